package reduce

import (
	"encoding/binary"
	"math/bits"

	"banyan/internal/mpi/softfloat"
)

// Operations on elements for which Go has no type: integers of 128 bits, and the reals of
// package softfloat.

// each applies f to elements of size bytes.
func each(size int, f func(l, r []byte)) Func {
	return func(left, right []byte) {
		for len(left) > 0 {
			f(left[:size], right[:size])
			left, right = left[size:], right[size:]
		}
	}
}

type int128 struct{ hi, lo uint64 }

func each128(f func(l, r int128) int128) Func {
	return each(16, func(l, r []byte) {
		get := func(b []byte) int128 {
			return int128{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b)}
		}
		x := f(get(l), get(r))
		binary.LittleEndian.PutUint64(l, x.lo)
		binary.LittleEndian.PutUint64(l[8:], x.hi)
	})
}

// less compares as signed numbers.
func (a int128) less(b int128) bool {
	return int64(a.hi) < int64(b.hi) || a.hi == b.hi && a.lo < b.lo
}

func (a int128) true() bool { return a.hi|a.lo != 0 }

func (a int128) mul(b int128) int128 {
	hi, lo := bits.Mul64(a.lo, b.lo)
	return int128{hi + a.hi*b.lo + a.lo*b.hi, lo}
}

func (a int128) add(b int128) int128 {
	lo, c := bits.Add64(a.lo, b.lo, 0)
	return int128{a.hi + b.hi + c, lo}
}

func truth128(is bool) int128 { return int128{0, truth[uint64](is)} }

var wideLogical = operations{
	Land: each128(func(l, r int128) int128 { return truth128(l.true() && r.true()) }),
	Lor:  each128(func(l, r int128) int128 { return truth128(l.true() || r.true()) }),
	Lxor: each128(func(l, r int128) int128 { return truth128(l.true() != r.true()) }),
}

var wide = also(operations{
	Sum:  each128(int128.add),
	Prod: each128(int128.mul),
	Min: each128(func(l, r int128) int128 {
		if r.less(l) {
			return r
		}
		return l
	}),
	Max: each128(func(l, r int128) int128 {
		if l.less(r) {
			return r
		}
		return l
	}),
}, bitwise, wideLogical)

// format is a format of softfloat, with its size.
type format struct {
	*softfloat.Format
	size int
}

var (
	softBinary16  = format{&softfloat.Binary16, softfloat.Binary16.Size()}
	softExtended  = format{&softfloat.Extended, softfloat.Extended.Size()}
	softBinary128 = format{&softfloat.Binary128, softfloat.Binary128.Size()}
)

func soft(f *format) operations {
	calculated := func(op func(x, y softfloat.Float) softfloat.Float) Func {
		return each(f.size, func(l, r []byte) { f.Encode(l, op(f.Decode(l), f.Decode(r))) })
	}
	chosen := func(sign int) Func {
		return each(f.size, func(l, r []byte) {
			if c := order(f.Decode(l), f.Decode(r), sign); c > 0 {
				copy(l, r)
			}
		})
	}
	return operations{Sum: calculated(softfloat.Add), Prod: calculated(softfloat.Mul), Min: chosen(1), Max: chosen(-1)}
}

// order is positive if y comes before x, and negative if x comes before y. The least comes
// first, or with sign -1 the greatest. NaNs come before all numbers, and -0 before +0.
func order(x, y softfloat.Float, sign int) int {
	switch nx, ny := x.IsNaN(), y.IsNaN(); {
	case nx && ny:
		return 0
	case nx:
		return -1
	case ny:
		return 1
	case x.IsZero() && y.IsZero():
		return sign * (int(truth[int8](y.Negative())) - int(truth[int8](x.Negative())))
	}
	return sign * softfloat.Compare(x, y)
}

func softComplex(f *format) operations {
	n := f.size
	return operations{
		Sum: soft(f)[Sum],
		Prod: each(2*n, func(l, r []byte) {
			a, b, c, d := f.Decode(l), f.Decode(l[n:]), f.Decode(r), f.Decode(r[n:])
			mul := func(x, y softfloat.Float) softfloat.Float { return f.Round(softfloat.Mul(x, y)) }
			f.Encode(l, softfloat.Add(mul(a, c), mul(b, d).Neg()))
			f.Encode(l[n:], softfloat.Add(mul(a, d), mul(b, c)))
		}),
	}
}

// softLocated is MINLOC and MAXLOC on such a real with a 32-bit index.
func softLocated(f *format) operations {
	n := f.size
	along := func(sign int) Func {
		return each(n+4, func(l, r []byte) {
			x, y := f.Decode(l), f.Decode(r)
			c := order(x, y, sign)
			if x.IsZero() && y.IsZero() {
				c = 0
			}
			if c > 0 || c == 0 && int32(binary.LittleEndian.Uint32(r[n:])) < int32(binary.LittleEndian.Uint32(l[n:])) {
				copy(l, r)
			}
		})
	}
	return operations{Minloc: along(1), Maxloc: along(-1)}
}
