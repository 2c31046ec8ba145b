package seal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"testing"
	"time"
)

func newSecret() (s Secret) {
	rand.Read(s[:])
	return s
}

// openAll opens a stream of whole records.
func openAll(o *Opener, stream []byte) (data []byte, err error) {
	for len(stream) > 0 {
		size, err := Size(stream)
		if err != nil {
			return data, err
		}
		if size == 0 || size > len(stream) {
			return data, nil // the rest has yet to come
		}
		if data, err = o.Open(data, stream[:size]); err != nil {
			return data, err
		}
		stream = stream[size:]
	}
	return data, nil
}

// All sizes come back as they were, and no record shows anything of its data.
func TestSealAndOpen(t *testing.T) {
	secret := newSecret()
	s, o := NewSealer(secret), NewOpener(secret)
	for _, size := range []int{1, 2, 8, 15, 16, 17, 72, 4096, MaxData - 1, MaxData} {
		data := bytes.Repeat([]byte("banyan!"), size/7+1)[:size]
		record := s.Seal(nil, data)
		if len(record) != size+Overhead || size >= 7 && bytes.Contains(record, data[:7]) {
			t.Fatalf("%d bytes of data became a record of %d bytes, or are to be seen in it", size, len(record))
		}
		if got, err := o.Open(nil, record); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
}

// Fill puts any runs into records that fit, and none of them is larger than allowed.
func TestFill(t *testing.T) {
	rng := mathrand.New(mathrand.NewPCG(1, 2))
	secret := newSecret()
	s, o := NewSealer(secret), NewOpener(secret)
	for range 500 {
		var runs [][]byte
		for range rng.IntN(6) {
			run := make([]byte, []int{rng.IntN(100), rng.IntN(2 * longRun), rng.IntN(5 * MaxRecord)}[rng.IntN(3)])
			rand.Read(run)
			runs = append(runs, run)
		}
		all := bytes.Join(runs, nil)
		block := make([]byte, 0, rng.IntN(3*MaxRecord))
		stream, n := s.Fill(block, runs)
		if cap(stream) != cap(block) {
			t.Fatal("Fill went beyond the capacity")
		}
		if n < len(all) && cap(block)-len(stream) > Overhead {
			t.Fatalf("%d of %d bytes are sealed, and there is room for more", n, len(all))
		}
		got, err := openAll(o, stream)
		if err != nil || !bytes.Equal(got, all[:n]) {
			t.Fatalf("%d bytes of %d: %v", n, len(all), err)
		}
	}
}

// A long run has records of its own, so that the reader can open them at their destination.
func TestLongRunsAreAlone(t *testing.T) {
	secret := newSecret()
	s := NewSealer(secret)
	stream, n := s.Fill(make([]byte, 0, 2*MaxRecord), [][]byte{make([]byte, 64), make([]byte, 3*MaxData)})
	if size, err := Size(stream); err != nil || size != 64+Overhead || n <= 64 {
		t.Errorf("the first record has %d bytes, of %d sealed; %v", size, n, err)
	}
}

// Whatever somebody between the two does, the opener hands on a prefix of what was sealed, and then
// nothing more, even if the rest is as it was.
func TestAttacks(t *testing.T) {
	const records = 6
	for name, attack := range map[string]func(r [][]byte) [][]byte{
		"a bit of the data":        func(r [][]byte) [][]byte { r[2][headSize] ^= 1; return r },
		"a bit of the tag":         func(r [][]byte) [][]byte { r[2][len(r[2])-1] ^= 0x80; return r },
		"a bit of the length":      func(r [][]byte) [][]byte { r[2][0] ^= 1; return r },
		"length zero":              func(r [][]byte) [][]byte { r[2][0], r[2][1] = 0, 0; return r },
		"too long":                 func(r [][]byte) [][]byte { r[2][0], r[2][1] = 0xff, 0xff; return r },
		"a repeated record":        func(r [][]byte) [][]byte { r[2] = r[1]; return r },
		"the same record twice":    func(r [][]byte) [][]byte { return append(append(append([][]byte{}, r[:2]...), r[1]), r[2:]...) },
		"two swapped records":      func(r [][]byte) [][]byte { r[2], r[3] = r[3], r[2]; return r },
		"a missing record":         func(r [][]byte) [][]byte { return append(append([][]byte{}, r[:2]...), r[3:]...) },
		"a record of one's own":    func(r [][]byte) [][]byte { r[2] = NewSealer(newSecret()).Seal(nil, []byte("mine")); return r },
		"the end of one left out":  func(r [][]byte) [][]byte { r[2] = r[2][:len(r[2])-1]; return r },
		"the front of one missing": func(r [][]byte) [][]byte { r[2] = r[2][1:]; return r },
	} {
		t.Run(name, func(t *testing.T) {
			secret := newSecret()
			s, o := NewSealer(secret), NewOpener(secret)
			var sealed [][]byte
			var all []byte
			for i := range records {
				data := fmt.Appendf(nil, "record %d, which is said once", i)
				all = append(all, data...)
				sealed = append(sealed, s.Seal(nil, data))
			}
			// A wrong length may make the reader wait for more: there is more.
			whole := append(bytes.Join(attack(sealed), nil), make([]byte, MaxRecord)...)
			got, err := openAll(o, whole)
			if !errors.Is(err, ErrForged) || !bytes.HasPrefix(all, got) || len(got) != 2*len(all)/records {
				t.Errorf("%d of %d bytes came, and then %v", len(got), len(all), err)
			}
			if got, err := o.Open(nil, sealed[2]); err == nil {
				t.Errorf("afterwards the opener hands on %q", got)
			}
		})
	}
	t.Run("the other direction", func(t *testing.T) {
		s, o := NewSealer(newSecret()), NewOpener(newSecret())
		if _, err := o.Open(nil, s.Seal(nil, []byte("reflected"))); !errors.Is(err, ErrForged) {
			t.Error(err)
		}
	})
}

// Both sides replace their keys at the same record, and the old key is gone.
func TestReplacedKeys(t *testing.T) {
	secret := newSecret()
	s, o := NewSealer(secret), NewOpener(secret)
	s.limit, o.limit = 10, 10
	first := s.secret
	var replaced int
	for i := range 100 {
		before := s.secret
		record := s.Seal(nil, make([]byte, 1+i*3))
		if s.secret != before {
			replaced++
		}
		if data, err := o.Open(nil, record); err != nil || len(data) != 1+i*3 {
			t.Fatalf("record %d: %v", i, err)
		}
		if s.secret != o.secret {
			t.Fatalf("after record %d the sides have different keys", i)
		}
	}
	if replaced < 50 || s.secret == first {
		t.Errorf("the key was replaced %d times", replaced)
	}
}

// Nonces under one key are all different.
func TestNoncesDiffer(t *testing.T) {
	k := newKey(newSecret())
	seen := map[[12]byte]bool{}
	for range 10000 {
		seen[[12]byte(k.next(1))] = true
	}
	if len(seen) != 10000 {
		t.Errorf("%d different nonces", len(seen))
	}
}

func TestNoAllocation(t *testing.T) {
	secret := newSecret()
	s, o := NewSealer(secret), NewOpener(secret)
	block, plain := make([]byte, 0, 2*MaxRecord), make([]byte, 0, MaxRecord)
	runs := [][]byte{make([]byte, 64), make([]byte, 20000)}
	if n := testing.AllocsPerRun(100, func() {
		stream, _ := s.Fill(block, runs)
		for len(stream) > 0 {
			size, _ := Size(stream)
			if _, err := o.Open(plain, stream[:size]); err != nil {
				t.Fatal(err)
			}
			stream = stream[size:]
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzOpen feeds the opener streams that nobody has sealed, or of which a part has been changed. It
// never panics, and never hands on anything but a prefix of what was sealed.
func FuzzOpen(f *testing.F) {
	secret := Secret{1, 2, 3}
	said := bytes.Repeat([]byte("said "), 100)
	honest := func() []byte {
		stream, _ := NewSealer(secret).Fill(make([]byte, 0, 2000), [][]byte{said[:3], said[3:200]})
		stream, _ = NewSealer(Secret{4}).Fill(stream, [][]byte{said[:7]})
		return stream
	}()
	f.Add(honest)
	f.Add([]byte{})
	f.Add([]byte{0, 0})
	f.Add([]byte{0xff, 0xff, 1})
	f.Add(append([]byte{5, 0}, make([]byte, 21)...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		got, err := openAll(NewOpener(secret), stream)
		if !bytes.HasPrefix(said, got) {
			t.Errorf("%q was never said", got)
		}
		if err != nil && !errors.Is(err, ErrForged) {
			t.Error(err)
		}
	})
}

// BenchmarkFrame is what a message of Banyan costs, a header of 64 bytes and its payload, both
// sides together: sealed and opened; and with a proof only, the tag of what stays in clear. The two
// take turns, and the best round of each counts: so the ratio holds on a machine that others use,
// too.
func BenchmarkFrame(b *testing.B) {
	for _, size := range []int{8, 4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			w := newWork(size)
			frames := max(1, 1<<19/(size+1024))
			best := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, f := range []func(){w.seal, w.prove} {
					begin := time.Now()
					for range frames {
						f()
					}
					best[i] = min(best[i], time.Since(begin)/time.Duration(frames))
				}
			}
			b.ReportMetric(float64(best[0]), "sealed-ns")
			b.ReportMetric(float64(best[1]), "proof-ns")
			b.ReportMetric(float64(best[1])/float64(best[0]), "ratio")
		})
	}
}

// work is a frame, and both sides of two connections.
type work struct {
	frame        []byte
	block, plain []byte
	runs         [2][]byte
	sealer       [2]*Sealer
	opener       [2]*Opener
}

func newWork(size int) *work {
	w := &work{frame: make([]byte, 64+size), block: make([]byte, 0, 2*MaxRecord), plain: make([]byte, 0, MaxRecord)}
	for i := range w.sealer {
		secret := newSecret()
		w.sealer[i], w.opener[i] = NewSealer(secret), NewOpener(secret)
	}
	return w
}

func (w *work) seal() {
	w.runs = [2][]byte{w.frame[:64], w.frame[64:]}
	for len(w.runs[1]) > 0 {
		stream, n := w.sealer[0].Fill(w.block, w.runs[:])
		for len(stream) > 0 {
			k, _ := Size(stream)
			if _, err := w.opener[0].Open(w.plain, stream[:k]); err != nil {
				panic(err)
			}
			stream = stream[k:]
		}
		head := min(n, len(w.runs[0]))
		w.runs[0], w.runs[1] = w.runs[0][head:], w.runs[1][n-head:]
	}
}

func (w *work) prove() {
	s, o := w.sealer[1], w.opener[1]
	tag := s.aead.Seal(w.block, s.next(len(w.frame)), nil, w.frame)
	if _, err := o.aead.Open(w.plain, o.next(len(w.frame)), tag, w.frame); err != nil {
		panic(err)
	}
}
