// Package prefetch asks the processor to bring memory into its caches before it is needed. A driver
// of very many small machines, of which few fit into a cache, asks for what the next ones need
// while it runs another: the processor fetches dozens of lines at once, where the machines would
// wait for one after the other.
//
// It is a hint. No result depends on it, and on processors other than amd64 and arm64 it does
// nothing.
package prefetch

import "unsafe"

// LineSize is how many bytes a line of a cache has.
const LineSize = 64

// Value asks for all lines of *p. A nil p is allowed.
func Value[T any](p *T) {
	lines(unsafe.Pointer(p), (unsafe.Sizeof(*p)+LineSize-1)/LineSize)
}

// Until asks for the lines of *p before one of its fields.
func Until[T, F any](p *T, field *F) {
	lines(unsafe.Pointer(p), (uintptr(unsafe.Pointer(field))-uintptr(unsafe.Pointer(p))+LineSize-1)/LineSize)
}

// First asks for the line in which *p begins. A nil p is allowed.
func First[T any](p *T) { lines(unsafe.Pointer(p), 1) }

// Slice asks for the lines of a slice's elements.
func Slice[T any](s []T) {
	var zero T
	lines(unsafe.Pointer(unsafe.SliceData(s)), (uintptr(len(s))*unsafe.Sizeof(zero)+LineSize-1)/LineSize)
}
