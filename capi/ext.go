package main

// The functions of mpi-ext.h. The standard's table doesn't have them, so their exports are
// written by hand; and so is the error of functions that native.h has.

/*
#include "ext.h"
*/
import "C"

import (
	"unsafe"

	"banyan/internal/mpi/binding"
	"banyan/internal/runtime/engine"
)

// banyan_Null is the error of a function that is all C, in a call with NULL for a result.
//
//export banyan_Null
func banyan_Null(function, argument *C.char) int32 {
	return int32(process.Null(C.GoString(function), C.GoString(argument)))
}

//export banyan_StateRegister
func banyan_StateRegister(name *C.char, address unsafe.Pointer, count int64, datatype uintptr) int32 {
	return int32(process.StateRegister((*byte)(unsafe.Pointer(name)), address, count, binding.Datatype(datatype)))
}

//export banyan_StateRegisterFunction
func banyan_StateRegisterFunction(name *C.char, save, load, extra uintptr) int32 {
	return int32(process.StateRegisterFunction((*byte)(unsafe.Pointer(name)), save, load, extra))
}

//export banyan_StateUnregister
func banyan_StateUnregister(name *C.char) int32 {
	return int32(process.StateUnregister((*byte)(unsafe.Pointer(name))))
}

//export banyan_Safepoint
func banyan_Safepoint(restored *int32) int32 {
	return int32(process.Safepoint(restored))
}

//export banyan_ExpectSafepoints
func banyan_ExpectSafepoints(total int64) int32 { return int32(process.ExpectSafepoints(total)) }

// watchSafepoints tells C when a safe point has anything to do.
func watchSafepoints(e *engine.Engine) {
	e.Wanted(func(due bool) {
		is := C.int(0)
		if due {
			is = 1
		}
		C.banyan_due(is)
	})
}
