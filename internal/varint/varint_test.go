package varint

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// What is appended is read.
func TestReadsWhatWasAppended(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		numbers := rapid.SliceOf(rapid.Uint64()).Draw(rt, "numbers")
		texts := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(rt, "texts")
		tail := rapid.SliceOf(rapid.Byte()).Draw(rt, "tail")
		b := Append(Append(nil, uint64(len(numbers))), numbers...)
		b = Append(b, uint64(len(texts)))
		for _, s := range texts {
			b = AppendBytes(b, s)
		}
		b = append(b, tail...)

		r := Read(b)
		if n := r.Count(); n != len(numbers) {
			rt.Fatalf("%d numbers", n)
		}
		for i, want := range numbers {
			if got := r.Uint(); got != want {
				rt.Fatalf("number %d is %d, was %d", i, got, want)
			}
		}
		if n := r.Count(); n != len(texts) {
			rt.Fatalf("%d texts", n)
		}
		for i, want := range texts {
			if got := r.Bytes(); !bytes.Equal(got, want) {
				rt.Fatalf("text %d is %x, was %x", i, got, want)
			}
		}
		if got := r.Take(uint64(len(tail))); !bytes.Equal(got, tail) || !r.Done() {
			rt.Fatalf("the tail is %x, was %x; failed %v", got, tail, r.Failed())
		}
	})
}

func TestFails(t *testing.T) {
	for name, read := range map[string]func(r *Reader){
		"a number that isn't whole":  func(r *Reader) { r.Uint() },
		"more things than bytes":     func(r *Reader) { r.Take(1); r.Count() },
		"more bytes than there are":  func(r *Reader) { r.Take(5) },
		"a string longer than there": func(r *Reader) { r.Take(1); r.Bytes() },
		"a number of 65 bits":        func(r *Reader) { *r = Read(bytes.Repeat([]byte{0xff}, 10)); r.Uint() },
		"what the reader refuses":    func(r *Reader) { r.Take(4); r.Fail() },
	} {
		r := Read([]byte{0xff, 3, 1, 0xff}[:4:4])
		if name == "a number that isn't whole" {
			r = Read([]byte{0xff})
		}
		if read(&r); !r.Failed() || r.Done() {
			t.Errorf("%s: failed %v, done %v", name, r.Failed(), r.Done())
		}
		if r.Uint() != 0 || r.Count() != 0 || r.Take(0) != nil || r.Bytes() != nil {
			t.Errorf("%s: it gives something all the same", name)
		}
	}
}

// FuzzReader reads anything in any order: nothing comes that isn't there, and nothing twice.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, []byte{5, 2, 7, 7, 1, 9, 9})
	f.Add([]byte{0, 3, 0}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 4})
	f.Fuzz(func(t *testing.T, calls, b []byte) {
		r := Read(b)
		var again []byte // what was read, appended
		for _, call := range calls {
			before := len(r.rest)
			var one []byte
			switch call % 4 {
			case 0:
				one = Append(nil, r.Uint())
			case 1:
				one = Append(nil, uint64(r.Count()))
			case 2:
				one = bytes.Clone(r.Take(uint64(call / 4)))
			case 3:
				one = AppendBytes(nil, r.Bytes())
			}
			if r.Failed() {
				if r.Done() || r.Uint() != 0 || r.Take(0) != nil {
					t.Fatal("it goes on after a failure")
				}
				return
			}
			if used := before - len(r.rest); used < len(one) { // more: a number that isn't written as short as can be
				t.Fatalf("%d bytes were read as %d", used, len(one))
			}
			again = append(again, one...)
		}
		if len(again)+len(r.rest) > len(b) {
			t.Fatalf("%d bytes and %d to come, of %d", len(again), len(r.rest), len(b))
		}
	})
}
