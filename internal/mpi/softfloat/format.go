package softfloat

import "encoding/binary"

// Format is a storage format of floating-point numbers.
type Format struct {
	name      string
	size      int  // bytes, of which the format may use fewer
	exponent  uint // bits
	precision uint // bits of the significand, the highest included
	explicit  bool // the highest bit of the significand is stored
}

// The formats, little-endian.
var (
	Binary16  = Format{"binary16", 2, 5, 11, false}
	Extended  = Format{"x87 extended", 16, 15, 64, true} // 10 bytes, and 6 of padding
	Binary128 = Format{"binary128", 16, 15, 113, false}
)

// Size is the number of bytes of a stored number.
func (f *Format) Size() int { return f.size }

// bias is added to exponents; the largest normal one is bias, the smallest 1 - bias.
func (f *Format) bias() int32 { return 1<<(f.exponent-1) - 1 }

// fraction is the number of bits that are stored below the exponent.
func (f *Format) fraction() uint {
	if f.explicit {
		return f.precision
	}
	return f.precision - 1
}

// Decode reads the number in the first bytes of b.
func (f *Format) Decode(b []byte) Float {
	word := load(b, f.size)
	stored := f.fraction()
	e := word.shiftDown(stored).lo & (1<<f.exponent - 1)
	x := Float{negative: word.shiftDown(stored+f.exponent).lo&1 != 0}
	x.significand = word.shiftLeft(128 - stored) // the fraction at the top
	leading := true
	if !f.explicit {
		leading = e != 0
		x.significand = x.significand.shiftDown(1)
		if leading {
			x.significand.hi |= 1 << 63
		}
	} else {
		leading = x.significand.hi>>63 != 0
	}
	switch {
	case e == 1<<f.exponent-1:
		x.class = nan
		if x.significand.shiftLeft(1) == (u128{}) && leading {
			x.class = infinite
			x.significand = u128{}
		}
		return x
	case x.significand == (u128{}) && e == 0:
		return x
	case e == 0:
		x.class, x.exponent = finite, 1-f.bias()
		return x.normalised()
	case !leading: // the x87 doesn't take it as a number either
		return notANumber
	}
	x.class, x.exponent = finite, int32(e)-f.bias()
	return x
}

// Encode writes x, rounded, to the first bytes of b. Padding becomes 0.
func (f *Format) Encode(b []byte, x Float) {
	var e uint64
	var s u128
	switch x.class {
	case infinite, nan:
		e = 1<<f.exponent - 1
		s = u128{1 << 63, 0}
		if x.class == nan {
			s = u128{x.significand.hi | 3<<62, x.significand.lo}
		}
		s = s.shiftDown(128 - f.precision)
	case finite:
		e, s = f.round(x)
	}
	if !f.explicit {
		s = s.shiftLeft(128 - f.fraction()).shiftDown(128 - f.fraction()) // without the highest bit
	}
	e |= bit(x.negative) << f.exponent
	top := u128{0, e}.shiftLeft(f.fraction())
	store(b, f.size, u128{s.hi | top.hi, s.lo | top.lo})
}

// round is the biased exponent and the significand of precision bits that are nearest
// to a finite number.
func (f *Format) round(x Float) (e uint64, s u128) {
	biased := x.exponent + f.bias()
	s = x.significand
	if biased < 1 { // subnormal, or rounded up from it
		s = s.shiftRight(uint(1 - biased))
		biased = 1
	}
	drop := 128 - f.precision
	half := u128{0, 1}.shiftLeft(drop - 1)
	rest := s.shiftLeft(f.precision).shiftDown(f.precision)
	s = s.shiftDown(drop)
	if half.less(rest) || rest == half && s.lo&1 != 0 {
		s, _ = s.add(u128{0, 1})
		if s.shiftDown(f.precision) != (u128{}) {
			s = s.shiftDown(1)
			biased++
		}
	}
	switch highest := s.shiftDown(f.precision-1).lo != 0; {
	case !highest: // stayed subnormal
		return 0, s
	case biased >= 1<<f.exponent-1: // overflow
		return 1<<f.exponent - 1, u128{0, 1}.shiftLeft(f.precision - 1)
	}
	return uint64(biased), s
}

// Round is x rounded to the format f.
func (f *Format) Round(x Float) Float {
	var b [16]byte
	f.Encode(b[:], x)
	return f.Decode(b[:])
}

// shiftDown is a / 2^n, rounded down.
func (a u128) shiftDown(n uint) u128 {
	if n >= 64 {
		return u128{0, a.hi >> (n - 64)}
	}
	return u128{a.hi >> n, a.hi<<(64-n) | a.lo>>n}
}

// load reads the bits of a number. In the extended format, bits above the lowest 80 are
// padding.
func load(b []byte, size int) u128 {
	if size == 2 {
		return u128{0, uint64(binary.LittleEndian.Uint16(b))}
	}
	return u128{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b)}
}

func store(b []byte, size int, w u128) {
	if size == 2 {
		binary.LittleEndian.PutUint16(b, uint16(w.lo))
		return
	}
	binary.LittleEndian.PutUint64(b, w.lo)
	binary.LittleEndian.PutUint64(b[8:], w.hi)
}
