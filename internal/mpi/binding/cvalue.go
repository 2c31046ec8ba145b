package binding

import "unsafe"

// Special addresses, at which there is no memory. In C they lie between 1 and 4095, where a Go
// pointer may not point: the entry points move them to the top of the address space.
var (
	InPlace         = moved(1)
	BufferAutomatic = moved(2)
	Unweighted      = (*int32)(moved(10))
	WeightsEmpty    = (*int32)(moved(11))
)

func moved(n int) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), n-4096) }

func isInPlace(buffer unsafe.Pointer) bool { return buffer == InPlace }

// array is a C array as a slice, nil for no elements.
func array[T any](p *T, n int32) []T {
	if n <= 0 || p == nil {
		return nil
	}
	return unsafe.Slice(p, n)
}

// goString is a copy of a C string.
func goString(s *byte) string {
	if s == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}

// setString stores a string and its final zero in room bytes, and returns its length without
// the zero. It cuts a string that is too long.
func setString(to *byte, room int, s string) int32 {
	s = s[:min(len(s), room-1)]
	b := unsafe.Slice(to, len(s)+1)
	copy(b, s)
	b[len(s)] = 0
	return int32(len(s))
}

// truth is a C boolean.
func truth(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
