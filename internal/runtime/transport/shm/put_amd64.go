package shm

import "golang.org/x/sys/cpu"

// wholeLines says that the instruction that copies strings of bytes is fast (ERMS).
var wholeLines = cpu.X86.HasERMS

// putLines copies n bytes. They mustn't overlap.
//
//go:noescape
func putLines(to, from *byte, n uintptr)
