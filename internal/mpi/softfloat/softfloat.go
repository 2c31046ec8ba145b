// Package softfloat is arithmetic in the floating-point formats that C and Fortran have and Go
// lacks: x87's 80 bits (C's long double), and IEEE 754's binary128 and binary16. It can do what
// reductions need (add, multiply, compare), and converts between the formats.
//
// All formats are decoded into a Float, which has 128 bits of significand. A result is rounded
// when it is encoded: to the nearest, ties to even, the hardware's default.
//
// # Invariants
//
//   - Encode(Decode(b)) is b, for each b that the hardware can produce (a signalling NaN
//     becomes quiet).
//   - Add and Mul of decoded operands, once encoded, are correctly rounded. This includes
//     subnormal results, overflow and signed zeros.
//
// # Limits
//
// There are no exceptions, flags or other rounding modes. Round a result of Add or Mul
// (Format.Round) before it becomes an operand. If both operands are NaNs, the result has the
// first one's payload.
package softfloat

import "math/bits"

// class is the class of a Float, without its sign.
type class uint8

const (
	zero class = iota
	finite
	infinite
	nan
)

// Float is a number (or not a number): ±significand/2^127 · 2^exponent. The
// highest bit of a finite number's significand is set.
type Float struct {
	class       class
	negative    bool
	exponent    int32
	significand u128
}

// IsNaN tells whether x is not a number.
func (x Float) IsNaN() bool { return x.class == nan }

// IsZero tells whether x is 0 or -0.
func (x Float) IsZero() bool { return x.class == zero }

// Negative tells whether x's sign is set.
func (x Float) Negative() bool { return x.negative }

// Neg is -x.
func (x Float) Neg() Float {
	x.negative = !x.negative
	return x
}

var notANumber = Float{class: nan, significand: u128{3 << 62, 0}}

// Add is x + y.
func Add(x, y Float) Float {
	switch {
	case x.class == nan:
		return x
	case y.class == nan:
		return y
	case x.class == infinite:
		if y.class == infinite && x.negative != y.negative {
			return notANumber
		}
		return x
	case y.class == infinite:
		return y
	case x.class == zero && y.class == zero:
		x.negative = x.negative && y.negative
		return x
	case x.class == zero:
		return y
	case y.class == zero:
		return x
	}
	if x.exponent < y.exponent || x.exponent == y.exponent && x.significand.less(y.significand) {
		x, y = y, x
	}
	// The lowest bit of the shifted operand stands for all lost bits. Operands have at most 113
	// bits, so it is far below the last significant one.
	small := y.significand.shiftRight(uint(x.exponent - y.exponent))
	if x.negative == y.negative {
		sum, carry := x.significand.add(small)
		if carry {
			sum = sum.shiftRight(1)
			sum.hi |= 1 << 63
			x.exponent++
		}
		x.significand = sum
		return x
	}
	x.significand = x.significand.sub(small)
	return x.normalised()
}

// normalised shifts a finite number's significand until its highest bit is set. If it is 0, the
// number is +0.
func (x Float) normalised() Float {
	if x.significand == (u128{}) {
		return Float{}
	}
	n := x.significand.leadingZeros()
	x.significand = x.significand.shiftLeft(n)
	x.exponent -= int32(n)
	return x
}

// Mul is x · y.
func Mul(x, y Float) Float {
	negative := x.negative != y.negative
	switch {
	case x.class == nan:
		return x
	case y.class == nan:
		return y
	case x.class == infinite || y.class == infinite:
		if x.class == zero || y.class == zero {
			return notANumber
		}
		return Float{class: infinite, negative: negative}
	case x.class == zero || y.class == zero:
		return Float{negative: negative}
	}
	p, shifted := x.significand.mul(y.significand)
	e := x.exponent + y.exponent + 1
	if shifted {
		e--
	}
	return Float{class: finite, negative: negative, exponent: e, significand: p}
}

// Compare is -1, 0 or 1 if x is less than, equal to or greater than y. Neither may be a NaN.
// Zeros are equal.
func Compare(x, y Float) int {
	switch {
	case x.class == zero && y.class == zero:
		return 0
	case x.class == zero:
		return sign(!y.negative)
	case y.class == zero:
		return sign(x.negative)
	case x.negative != y.negative:
		return sign(x.negative)
	}
	less := x.class < y.class || x.class == y.class && (x.exponent < y.exponent ||
		x.exponent == y.exponent && x.significand.less(y.significand))
	if !less && x == y {
		return 0
	}
	return sign(less != x.negative)
}

// sign is -1 for less, otherwise 1.
func sign(less bool) int {
	if less {
		return -1
	}
	return 1
}

// u128 is an unsigned number of 128 bits.
type u128 struct{ hi, lo uint64 }

func (a u128) less(b u128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a u128) add(b u128) (sum u128, carry bool) {
	lo, c := bits.Add64(a.lo, b.lo, 0)
	hi, c := bits.Add64(a.hi, b.hi, c)
	return u128{hi, lo}, c != 0
}

func (a u128) sub(b u128) u128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return u128{hi, lo}
}

// mul is the upper half of the product of two numbers whose highest bits are set. It is shifted
// left if its own highest bit isn't set. Its lowest bit stands for the lower half as well.
func (a u128) mul(b u128) (p u128, shifted bool) {
	h3, h2 := bits.Mul64(a.hi, b.hi)
	m2, m1 := bits.Mul64(a.hi, b.lo)
	n2, n1 := bits.Mul64(a.lo, b.hi)
	l1, l0 := bits.Mul64(a.lo, b.lo)
	l1, c := bits.Add64(l1, m1, 0)
	h2, c = bits.Add64(h2, m2, c)
	h3 += c
	l1, c = bits.Add64(l1, n1, 0)
	h2, c = bits.Add64(h2, n2, c)
	h3 += c
	if h3>>63 == 0 {
		h3, h2, l1, l0 = h3<<1|h2>>63, h2<<1|l1>>63, l1<<1|l0>>63, l0<<1
		shifted = true
	}
	if l1|l0 != 0 {
		h2 |= 1
	}
	return u128{h3, h2}, shifted
}

func (a u128) shiftLeft(n uint) u128 {
	if n >= 64 {
		return u128{a.lo << (n - 64), 0}
	}
	return u128{a.hi<<n | a.lo>>(64-n), a.lo << n}
}

// shiftRight is a / 2^n. Its lowest bit is set if any bit was lost.
func (a u128) shiftRight(n uint) u128 {
	switch {
	case n == 0:
		return a
	case n >= 128:
		if a != (u128{}) {
			return u128{0, 1}
		}
		return a
	case n >= 64:
		lost := a.lo | a.hi<<(128-n) // for n = 64 nothing of hi is lost: in Go a shift by 64 gives 0
		return u128{0, a.hi>>(n-64) | bit(lost != 0)}
	}
	return u128{a.hi >> n, a.hi<<(64-n) | a.lo>>n | bit(a.lo<<(64-n) != 0)}
}

func (a u128) leadingZeros() uint {
	if a.hi != 0 {
		return uint(bits.LeadingZeros64(a.hi))
	}
	return 64 + uint(bits.LeadingZeros64(a.lo))
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
