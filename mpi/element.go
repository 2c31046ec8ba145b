package mpi

import "unsafe"

// Element is an element of a message: a type of fixed size without pointers.
type Element interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128 | ~bool
}

// size is the length of one element in bytes.
func size[T Element]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// bytesOf is the memory of a slice. The caller holds the slice while the memory is used, so the
// garbage collector keeps it.
func bytesOf[T Element](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size[T]())
}

// elementsOf is the opposite. b is memory of whole elements, aligned for them.
func elementsOf[T Element](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size[T]())
}
