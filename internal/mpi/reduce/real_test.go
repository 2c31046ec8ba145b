package reduce

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"banyan/internal/mpi/datatype"
)

// realKinds are the kinds of reals under test, and the pair of each.
var realKinds = []struct {
	k    datatype.Kind
	pair datatype.Kind // with an int, or Mixed
}{{datatype.Float16, 0}, {datatype.Float32, datatype.FloatInt}, {datatype.Float64, datatype.DoubleInt}, {datatype.LongDouble, datatype.LongDoubleInt}, {datatype.Float128, 0}}

// put and get are exact for the numbers of the tests.
func put(k datatype.Kind, x float64) []byte {
	b := make([]byte, k.Size())
	switch k {
	case datatype.Float32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(x)))
	case datatype.Float64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(x))
	default: // binary: sign, exponent, fraction, all of a number with few bits
		bits := math.Float64bits(x)
		e, fraction := int(bits>>52&0x7ff)-1023, bits<<12
		switch k {
		case datatype.Float16:
			e = special(e, x, 15)
			binary.LittleEndian.PutUint16(b, uint16(bits>>63<<15)|uint16(e)<<10|uint16(fraction>>54))
		case datatype.LongDouble:
			e = special(e, x, 16383)
			leading := uint64(1) << 63
			if x == 0 {
				leading = 0
			}
			binary.LittleEndian.PutUint64(b, leading|fraction>>1)
			binary.LittleEndian.PutUint16(b[8:], uint16(bits>>63<<15)|uint16(e))
		case datatype.Float128:
			e = special(e, x, 16383)
			binary.LittleEndian.PutUint64(b[8:], bits>>63<<63|uint64(e)<<48|fraction>>16)
		}
	}
	return b
}

// special is the stored exponent.
func special(e int, x float64, bias int) int {
	switch {
	case x == 0:
		return 0
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 2*bias + 1
	}
	return e + bias
}

func isNaN(k datatype.Kind, b []byte) bool {
	switch k {
	case datatype.Float32:
		return math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case datatype.Float64:
		return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case datatype.Float16:
		return softBinary16.Decode(b).IsNaN()
	case datatype.LongDouble:
		return softExtended.Decode(b).IsNaN()
	}
	return softBinary128.Decode(b).IsNaN()
}

var samples = []float64{0, math.Copysign(0, -1), 1, -1, 1.5, -2.25, 3, 96, -0.125, math.Inf(1), math.Inf(-1), math.NaN()}

// TestReals compares all kinds of reals with float64, on numbers that all of them hold.
func TestReals(t *testing.T) {
	for _, c := range realKinds {
		for _, x := range samples {
			for _, y := range samples {
				for op, want := range map[Op]float64{Sum: x + y, Prod: x * y, Min: math.Min(x, y), Max: math.Max(x, y)} {
					if op == Min && x != x || op == Max && x != x || op == Min && y != y || op == Max && y != y {
						want = math.NaN() // math.Min(-Inf, NaN) is -Inf
					}
					got := put(c.k, x)
					For(op, c.k)(got, put(c.k, y))
					if math.IsNaN(want) != isNaN(c.k, got) || !math.IsNaN(want) && !bytes.Equal(got, put(c.k, want)) {
						t.Errorf("%#x on %v of %v, %v: %x, want %v", op, c.k, x, y, got, want)
					}
				}
			}
		}
	}
}

func TestComplex(t *testing.T) {
	parts := map[datatype.Kind]datatype.Kind{datatype.Complex32: datatype.Float16, datatype.Complex64: datatype.Float32,
		datatype.Complex128: datatype.Float64, datatype.LongComplex: datatype.LongDouble, datatype.Complex256: datatype.Float128}
	for k, part := range parts {
		number := func(re, im float64) []byte { return append(put(part, re), put(part, im)...) }
		for _, c := range []struct {
			op   Op
			want []byte
		}{{Sum, number(-0.5, 5)}, {Prod, number(1.5*-2-2*3, 1.5*3+2*-2)}} {
			got := number(1.5, 2)
			if For(c.op, k)(got, number(-2, 3)); !bytes.Equal(got, c.want) {
				t.Errorf("%#x on %v: %x, want %x", c.op, k, got, c.want)
			}
		}
	}
}
