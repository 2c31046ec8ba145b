package binding

import "unsafe"

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

// CountOut points to a count to return: an int in MPI_X, 64 bits (Wide) in MPI_X_c.
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
