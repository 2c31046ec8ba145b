package logp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on x86-64, and on arm64 with small pages of 4 KiB.
const hugePage = 2 << 20

// makeHuge is make([]T, n), backed by huge pages where the kernel allows: otherwise the first
// touch of a hundred megabytes is a quarter of a simulation's time.
func makeHuge[T any](n int) []T {
	s := make([]T, n)
	if n == 0 {
		return s
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	skip := int(-first & (hugePage - 1))
	if bytes := n*int(unsafe.Sizeof(s[0])) - skip; bytes >= hugePage {
		whole := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), skip+bytes)[skip:]
		// This is only advice to the kernel.
		_ = unix.Madvise(whole[:bytes&^(hugePage-1)], unix.MADV_HUGEPAGE)
	}
	return s
}
