package reduce

import (
	"cmp"
	"maps"
	"unsafe"
)

type integers interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type reals interface{ float32 | float64 }

type complexes interface{ complex64 | complex128 }

// pair is two operands as slices of elements. They may be unaligned, which x86-64 allows.
func pair[T any](left, right []byte) (l, r []T) {
	if len(left) == 0 {
		return nil, nil
	}
	var t T
	n := len(left) / int(unsafe.Sizeof(t))
	l = unsafe.Slice((*T)(unsafe.Pointer(&left[0])), n)
	r = unsafe.Slice((*T)(unsafe.Pointer(&right[0])), n)
	return l, r
}

// number is the operations of all numbers.
func number[T integers | reals | complexes]() operations {
	return operations{
		Sum: func(left, right []byte) {
			l, r := pair[T](left, right)
			for len(l) >= 8 && len(r) >= 8 { // the compiler doesn't unroll: half as fast
				x, y := (*[8]T)(l), (*[8]T)(r)
				x[0] += y[0]
				x[1] += y[1]
				x[2] += y[2]
				x[3] += y[3]
				x[4] += y[4]
				x[5] += y[5]
				x[6] += y[6]
				x[7] += y[7]
				l, r = l[8:], r[8:]
			}
			for i := range l {
				l[i] += r[i]
			}
		},
		Prod: func(left, right []byte) {
			l, r := pair[T](left, right)
			for i := range l {
				l[i] *= r[i]
			}
		},
	}
}

// ordered is the operations of numbers that can be compared.
func ordered[T integers | reals]() operations {
	return also(number[T](), operations{
		Min: func(left, right []byte) {
			l, r := pair[T](left, right)
			for i := range l {
				l[i] = min(l[i], r[i])
			}
		},
		Max: func(left, right []byte) {
			l, r := pair[T](left, right)
			for i := range l {
				l[i] = max(l[i], r[i])
			}
		},
	})
}

// bitwise is the operations of bytes and integers. They are the same for all sizes.
var bitwise = operations{
	Band: func(left, right []byte) {
		l, r := words(left, right)
		for i := range l {
			l[i] &= r[i]
		}
		for i := 8 * len(l); i < len(left); i++ {
			left[i] &= right[i]
		}
	},
	Bor: func(left, right []byte) {
		l, r := words(left, right)
		for i := range l {
			l[i] |= r[i]
		}
		for i := 8 * len(l); i < len(left); i++ {
			left[i] |= right[i]
		}
	},
	Bxor: func(left, right []byte) {
		l, r := words(left, right)
		for i := range l {
			l[i] ^= r[i]
		}
		for i := 8 * len(l); i < len(left); i++ {
			left[i] ^= right[i]
		}
	},
}

// words is operands as words of eight bytes, without the remaining bytes.
func words(left, right []byte) (l, r []uint64) {
	n := len(left) &^ 7
	return pair[uint64](left[:n], right[:n])
}

// logical is the operations of truth values.
func logical[T integers]() operations {
	return operations{
		Land: func(left, right []byte) {
			l, r := pair[T](left, right)
			for i := range l {
				l[i] = truth[T](l[i] != 0 && r[i] != 0)
			}
		},
		Lor: func(left, right []byte) {
			l, r := pair[T](left, right)
			for i := range l {
				l[i] = truth[T](l[i]|r[i] != 0)
			}
		},
		Lxor: func(left, right []byte) {
			l, r := pair[T](left, right)
			for i := range l {
				l[i] = truth[T]((l[i] != 0) != (r[i] != 0))
			}
		},
	}
}

func truth[T integers](is bool) T {
	if is {
		return 1
	}
	return 0
}

// integer is all operations of integers.
func integer[T integers]() operations {
	return also(ordered[T](), logical[T](), bitwise)
}

// also joins several groups of operations.
func also(groups ...operations) operations {
	all := operations{}
	for _, g := range groups {
		maps.Copy(all, g)
	}
	return all
}

// located is MINLOC and MAXLOC on a value with an index.
func located[V integers | reals, I integers | reals]() operations {
	var value V
	var index I
	v, i := int(unsafe.Sizeof(value)), int(unsafe.Sizeof(index))
	along := func(better func(l, r V) int) Func {
		return func(left, right []byte) {
			for len(left) > 0 {
				l, r := (*V)(unsafe.Pointer(&left[0])), (*V)(unsafe.Pointer(&right[0]))
				li, ri := (*I)(unsafe.Pointer(&left[v])), (*I)(unsafe.Pointer(&right[v]))
				if c := better(*l, *r); c > 0 || c == 0 && *ri < *li {
					*l, *li = *r, *ri
				}
				left, right = left[v+i:], right[v+i:]
			}
		}
	}
	return operations{
		Minloc: along(cmp.Compare[V]), // which has NaNs below all numbers, and equal
		Maxloc: along(func(l, r V) int {
			switch nl, nr := l != l, r != r; {
			case nl && nr:
				return 0
			case nl:
				return -1
			case nr:
				return 1
			}
			return cmp.Compare(r, l)
		}),
	}
}
