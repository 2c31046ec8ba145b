package main

/*
#include "streams.h"
*/
import "C"

import "fmt"

// flush writes out the buffers of the program's streams.
func flush() { C.banyan_flush_all() }

// stdio is the standard input of a C program: an engine.Input.
type stdio struct{}

func (stdio) Unread() (n int64, ok bool) {
	n = int64(C.banyan_unread())
	return n, n >= 0
}

func (stdio) Skip(n int64) error {
	if missing := C.banyan_skip(C.longlong(n)); missing > 0 {
		return fmt.Errorf("the input ends %d bytes early", int64(missing))
	}
	return nil
}
