package main

/*
#include "callsite.h"
*/
import "C"

import (
	"os"
	"slices"
	"unsafe"

	"banyan/internal/job/join"
)

// watchCallSites makes a program that is checked record where it calls MPI.
func watchCallSites(j *join.Job) {
	if j.LocateCalls(make(callSites).present) {
		C.banyan_watch_callers()
	}
}

//export banyan_die
func banyan_die() {
	process.LastWords(join.Line(make(callSites).present()))
}

// callers are return addresses, with 0 behind the last.
type callers [C.BANYAN_CALLERS + 1]C.uintptr_t

// callSites are the call sites that were looked up before.
type callSites map[callers]callSite

// callSite is a file and the address in it, as the linker assigned it.
type callSite struct {
	file   string // "": the callers are all in MPI's own libraries, or in no file
	linked uint64
}

// present is where the present call of MPI was made: in the innermost caller outside MPI's own
// libraries. It must run on the program's thread.
func (s callSites) present() (file string, linked uint64) {
	by := *(*callers)(unsafe.Pointer(C.banyan_callers()))
	if end := slices.Index(by[:], 0); end >= 0 {
		clear(by[end:]) // of an earlier call
	}
	at, known := s[by]
	if !known {
		at = by.site()
		s[by] = at
	}
	return at.file, at.linked
}

func (by *callers) site() callSite {
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
		return callSite{path, uint64(linked)}
	}
	return callSite{}
}
