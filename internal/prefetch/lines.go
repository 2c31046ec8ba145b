//go:build amd64 || arm64

package prefetch

import "unsafe"

// lines asks for n lines from p on. It never faults, whatever p is.
//
//go:noescape
func lines(p unsafe.Pointer, n uintptr)
