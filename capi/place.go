package main

/*
#include "place.h"
*/
import "C"

import (
	"os"
	"slices"
	"unsafe"

	"banyan/internal/job/join"
)

// watchPlaces has a program that is checked say where it calls MPI from.
func watchPlaces(j *join.Job) {
	if j.LocateCalls(make(places).here) {
		C.banyan_watch_callers()
	}
}

// callers are return addresses, with 0 behind the last.
type callers [C.BANYAN_CALLERS + 1]C.uintptr_t

// places knows those that have been looked up.
type places map[callers]place

// place is an address as the linker placed it in a file.
type place struct {
	file   string // "": in none but MPI's own
	linked uint64
}

// here is where the present call of MPI stands: the innermost caller that isn't of MPI's own
// libraries. It must run on the program's thread.
func (p places) here() (file string, linked uint64) {
	by := *(*callers)(unsafe.Pointer(C.banyan_callers()))
	if end := slices.Index(by[:], 0); end >= 0 {
		clear(by[end:]) // of an earlier call
	}
	at, known := p[by]
	if !known {
		at = by.place()
		p[by] = at
	}
	return at.file, at.linked
}

func (by *callers) place() place {
	for _, pc := range by {
		var file *C.char
		var linked C.uintptr_t
		if pc == 0 || C.banyan_locate(pc, &file, &linked) == 0 {
			continue
		}
		path := C.GoString(file)
		if path == "" { // the program's own
			path, _ = os.Executable()
		}
		return place{path, uint64(linked)}
	}
	return place{}
}
