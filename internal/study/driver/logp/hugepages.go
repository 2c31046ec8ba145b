package logp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on x86-64, and on arm64 with small pages of 4 KiB.
const hugePage = 2 << 20

// hugePages is memory in huge pages, where the kernel allows. The first touch of a small page takes
// the kernel a microsecond, so without them it would work as long on the memory of a broadcast as
// the broadcast on the rest.
//
// Large arrays get pages of their own; what is left of the last one is for small arrays. The zero
// hugePages is ready. Memory is never given back to it: the garbage collector frees pages in which
// no array is used.
type hugePages struct{ rest []byte }

// makeHuge is make([]T, n) for a T without pointers.
func makeHuge[T any](h *hugePages, n int) []T {
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	if size > len(h.rest) {
		if size < hugePage/2 {
			return make([]T, n)
		}
		h.grow(size)
	}
	memory := h.rest[:size]
	h.rest = h.rest[(size+63)&^63:] // a cache line is one array's
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), n)
}

// grow makes whole pages for so many bytes.
func (h *hugePages) grow(size int) {
	whole := (size + hugePage - 1) &^ (hugePage - 1)
	memory := make([]byte, whole+hugePage)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(memory))) & (hugePage - 1))
	h.rest = memory[skip:][:whole]
	_ = unix.Madvise(h.rest, unix.MADV_HUGEPAGE) // only advice: small pages do as well
}
