package main

/*
#include "typesize.h"
*/
import "C"

import (
	"unsafe"

	"banyan/internal/mpi/datatype"
)

// C answers questions about predefined types without Go, from a table of sizes by handle. The
// table is empty while MPI isn't initialised: then C asks Go, which answers with an error.

// typeSizes is C's table, for the handles from 0x200 on.
func typeSizes() *[256]byte { return (*[256]byte)(unsafe.Pointer(&C.banyan_type_size)) }

func knowTypes() {
	for _, t := range datatype.All() {
		typeSizes()[t.Handle()-0x200] = byte(t.Size())
	}
}

func forgetTypes() { clear(typeSizes()[:]) }
