package softfloat

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

var formats = []struct {
	*Format
	letter string // of testdata/reference.c
	used   int    // bytes
}{{&Binary16, "h", 2}, {&Extended, "x", 10}, {&Binary128, "q", 16}}

// operand draws a number. It prefers difficult ones: few bits, exponents that are near each
// other or at the limits, infinities, zeros, NaNs.
func operand(r *rand.Rand, f *Format, near int32) (x Float) {
	switch r.IntN(16) {
	case 0:
		x.class = zero
	case 1:
		x.class = infinite
	case 2:
		x = notANumber
	default:
		x.class = finite
		x.significand = u128{r.Uint64() | 1<<63, r.Uint64()}
		if r.IntN(2) == 0 { // a few bits
			x.significand = u128{1<<63 | 1<<r.UintN(64), 1 << r.UintN(64)}
		}
		if r.IntN(4) == 0 { // all ones
			x.significand = u128{math.MaxUint64, math.MaxUint64}.shiftLeft(r.UintN(100))
		}
		switch bias := f.bias(); r.IntN(5) {
		case 0:
			x.exponent = r.Int32N(2*bias+40) - bias - 20
		case 1:
			x.exponent = -bias - int32(f.precision) + r.Int32N(2*int32(f.precision))
		case 2:
			x.exponent = bias - r.Int32N(3)
		default:
			x.exponent = near + r.Int32N(2*int32(f.precision)) - int32(f.precision)
		}
	}
	x.negative = r.IntN(2) == 0
	return x
}

// TestAsTheCompiler compares with gcc's results.
func TestAsTheCompiler(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	program := filepath.Join(t.TempDir(), "reference")
	if out, err := exec.Command(gcc, "-O0", "-o", program, "testdata/reference.c").CombinedOutput(); err != nil {
		t.Skipf("gcc doesn't compile the reference: %v\n%s", err, out)
	}
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			in := make([]byte, 32*n)
			for i := range n {
				near := r.Int32N(2*f.bias()) - f.bias()
				f.Encode(in[32*i:], operand(r, f.Format, near))
				f.Encode(in[32*i+16:], operand(r, f.Format, near))
			}
			cmd := exec.CommandContext(t.Context(), program, f.letter)
			cmd.Stdin = bytes.NewReader(in)
			out, err := cmd.Output()
			if err != nil || len(out) != 49*n {
				t.Fatalf("the reference gave %d bytes: %v", len(out), err)
			}
			for i := range n {
				a, b := in[32*i:32*i+16], in[32*i+16:32*i+32]
				o := out[49*i : 49*i+49]
				x, y := f.Decode(a), f.Decode(b)
				f.compare(t, "sum", a, b, Add(x, y), o)
				f.compare(t, "product", a, b, Mul(x, y), o[16:])
				Binary128.compare(t, "binary128", a, b, x, o[32:])
				if !x.IsNaN() && !y.IsNaN() {
					if got := byte(1 << (Compare(x, y) + 1)); got != o[48] {
						t.Errorf("%x, %x: compare gives %b, want %b", a, b, got, o[48])
					}
				} else if o[48] != 0 {
					t.Errorf("%x, %x: gcc sees numbers", a, b)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// compare compares x, rounded, with the compiler's result. Any two NaNs are equal here.
func (f *Format) compare(t *testing.T, what string, a, b []byte, x Float, want []byte) {
	t.Helper()
	var got [16]byte
	f.Encode(got[:], x)
	w := f.Decode(want)
	if w.IsNaN() && f.Decode(got[:]).IsNaN() {
		return
	}
	if !bytes.Equal(got[:f.size], want[:f.size]) {
		t.Errorf("%s of %x, %x: %x, want %x", what, a, b, got[:f.size], want[:f.size])
	}
}

// TestRoundTrip checks that loading and storing changes nothing, for all patterns that hardware
// can produce.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := formats[rapid.IntRange(0, len(formats)-1).Draw(t, "format")]
		b := make([]byte, 16)
		binary.LittleEndian.PutUint64(b, rapid.Uint64().Draw(t, "low"))
		binary.LittleEndian.PutUint64(b[8:], rapid.Uint64().Draw(t, "high"))
		clear(b[f.used:])
		if f.Format == &Extended { // the hardware produces no others
			if b[7] |= 0x80; binary.LittleEndian.Uint16(b[8:])&0x7fff == 0 {
				b[7] &^= 0x80 // subnormal
			}
		}
		x := f.Decode(b)
		got := make([]byte, 16)
		f.Encode(got, x)
		if x.IsNaN() {
			if !f.Decode(got).IsNaN() {
				t.Fatalf("%x, not a number, became %x", b, got)
			}
			return
		}
		if !bytes.Equal(got[:f.size], b[:f.size]) {
			t.Fatalf("%x became %x", b[:f.size], got[:f.size])
		}
	})
}

// TestAllOfBinary16 checks every value of the small format against Go's float64.
func TestAllOfBinary16(t *testing.T) {
	for v := range 1 << 16 {
		b := []byte{byte(v), byte(v >> 8)}
		x := Binary16.Decode(b)
		e, frac := v>>10&31, v&1023
		want := math.Ldexp(float64(frac), -24)
		switch {
		case e == 31 && frac != 0:
			want = math.NaN()
		case e == 31:
			want = math.Inf(1)
		case e > 0:
			want = math.Ldexp(float64(frac|1024), e-25)
		}
		got := math.Ldexp(float64(x.significand.hi), int(x.exponent)-63)
		switch x.class {
		case zero:
			got = 0
		case infinite:
			got = math.Inf(1)
		case nan:
			got = math.NaN()
		}
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || x.negative != (v>>15 != 0) {
			t.Fatalf("%#04x is %v, want %v", v, got, want)
		}
	}
}

func BenchmarkAddExtended(b *testing.B) {
	x := []byte{0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x3f, 0, 0, 0, 0, 0, 0}
	y := bytes.Clone(x)
	b.SetBytes(16)
	for b.Loop() {
		Extended.Encode(x, Add(Extended.Decode(x), Extended.Decode(y)))
	}
}
