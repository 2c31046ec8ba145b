package binding

import "unsafe"

// Handles of the C interface. Values below firstHandle are the ABI's predefined
// ones, the others name entries of a table (table.go).
type (
	Comm       uintptr
	Group      uintptr
	Datatype   uintptr
	Op         uintptr
	Request    uintptr
	Info       uintptr
	Errhandler uintptr
	Message    uintptr
	Win        uintptr
	File       uintptr
	Session    uintptr
)

// Code is an error code: Success, a class of the standard, or one that the
// program added. A value from raisedCode on never reaches the program: it tells the
// C side to call an error handler first (errhandler.go).
type Code int32

// Status is MPI_Status, byte for byte. A nil pointer is MPI_STATUS_IGNORE.
type Status struct {
	Source, Tag, Error int32
	cancelled          int32
	bytes              [2]int32 // of the message, 64 bits: the lower half first
	_                  [2]int32
}

// Bytes is the size of the message that the status is about.
func (s *Status) Bytes() int64 { return int64(uint32(s.bytes[0])) | int64(s.bytes[1])<<32 }

// SetBytes notes the size of the message.
func (s *Status) SetBytes(n int64) { s.bytes = [2]int32{int32(n), int32(n >> 32)} }

// Cancelled says whether the operation was cancelled.
func (s *Status) Cancelled() bool { return s.cancelled != 0 }

// SetCancelled notes whether it was.
func (s *Status) SetCancelled(is bool) {
	s.cancelled = 0
	if is {
		s.cancelled = 1
	}
}

// set fills all but Error, which only calls with several statuses touch.
func (s *Status) set(source, tag int32, bytes int64) {
	if s == nil {
		return
	}
	s.Source, s.Tag, s.cancelled = source, tag, 0
	s.SetBytes(bytes)
}

// empty fills in what the standard calls an empty status.
func (s *Status) empty() {
	s.set(AnySource, AnyTag, 0)
	if s != nil {
		s.Error = int32(Success)
	}
}

// Counts is an array of counts or displacements: of int in MPI_X, of 64-bit
// numbers (Wide) in MPI_X_c.
type Counts struct {
	P    unsafe.Pointer
	Wide bool
}

// IsNil says that there is no array.
func (c Counts) IsNil() bool { return c.P == nil }

// At is element i.
func (c Counts) At(i int) int64 {
	if c.Wide {
		return *(*int64)(unsafe.Add(c.P, 8*i))
	}
	return int64(*(*int32)(unsafe.Add(c.P, 4*i)))
}

// CountOut is where a count goes: an int in MPI_X, 64 bits (Wide) in MPI_X_c.
type CountOut struct {
	P    unsafe.Pointer
	Wide bool
}

// Set stores the value. It returns false, and stores Undefined, if it doesn't fit.
func (c CountOut) Set(n int64) bool {
	if c.Wide {
		*(*int64)(c.P) = n
		return true
	}
	if n != int64(int32(n)) {
		*(*int32)(c.P) = Undefined
		return false
	}
	*(*int32)(c.P) = int32(n)
	return true
}

// Get is the value that was passed in.
func (c CountOut) Get() int64 { return Counts(c).At(0) }

// Addresses that aren't any. C has them between 1 and 4095, where a Go pointer may
// not point: the entry points move such values to the top of the address space.
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

// goString is a C string. It copies.
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

// setString stores a string with its end in room bytes, cut off if it is too
// long, and returns its length without the end.
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
