package rma

import (
	"bytes"
	"testing"
	"unsafe"

	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
)

// A message is read as it was written.
func TestMessage(t *testing.T) {
	vector, err := datatype.Vector(2, 1, 3, datatype.Predefined(0x258))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []message{
		{verb: put, place: place{disp: 40, size: 3}, data: []byte("abc")},
		{verb: get, answer: 7, place: placeOf(vector, 2, -8)},
		{verb: accumulate, op: reduce.Sum, kind: datatype.Int64, place: placeOf(vector, 1, 16), data: make([]byte, 16)},
		{verb: fetch, answer: 1 << 30, op: reduce.NoOp, kind: datatype.FloatInt, place: place{size: 8}},
		{verb: swap, answer: 1, op: reduce.Replace, kind: datatype.Int32, place: place{disp: 4, size: 4}, data: make([]byte, 8)},
		{verb: flush, answer: 12}, {verb: posted}, {verb: lockExclusive, answer: 3},
	} {
		var got message
		if err := got.read(append(m.append(nil), m.data...)); err != nil {
			t.Errorf("%v: %v", m.verb, err)
			continue
		}
		first, length := m.span()
		f, l := got.span()
		n, _ := m.bytes()
		k, _ := got.bytes()
		if got.verb != m.verb || got.answer != m.answer || got.op != m.op || got.kind != m.kind || f != first || l != length || n != k || !bytes.Equal(got.data, m.data) {
			t.Errorf("%+v is read as %+v", m, got)
		}
	}
}

// Whatever comes, what is accepted can be carried out within the memory that it names.
func FuzzMessage(f *testing.F) {
	vector, _ := datatype.Vector(2, 1, 3, datatype.Predefined(0x258))
	for _, m := range []message{
		{verb: put, place: place{disp: 40, size: 3}, data: []byte("abc")},
		{verb: accumulate, op: reduce.Sum, kind: datatype.Int64, place: placeOf(vector, 1, 16), data: make([]byte, 16)},
		{verb: fetch, answer: 9, op: reduce.Minloc, kind: datatype.ShortInt, place: place{size: 6}, data: make([]byte, 6)},
		{verb: swap, answer: 1, op: reduce.Replace, kind: datatype.Int32, place: place{disp: 4, size: 4}, data: make([]byte, 8)},
		{verb: unlock, answer: 3},
	} {
		f.Add(append(m.append(nil), m.data...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m message
		if m.read(b) != nil || !m.verb.moves() {
			return
		}
		const size = 4096
		first, length := m.span()
		n, _ := m.bytes()
		if first < 0 || length < 0 || first > size-length || n > 1<<20 {
			return
		}
		aligned := make([]uint64, size/8+2)
		base := unsafe.Pointer(&aligned[1])
		u := &under{message: m, base: base, all: n, how: m.manner(base)}
		aligned[0], aligned[len(aligned)-1] = 77, 78
		if m.verb.answers() {
			u.old = make([]byte, n)
		}
		u.whole()
		if aligned[0] != 77 || aligned[len(aligned)-1] != 78 {
			t.Fatal("it reaches out of its memory")
		}
	})
}

// A refused lock says whether its holder has died or left: who asks may not know of the death yet.
func TestHolder(t *testing.T) {
	for _, left := range []bool{false, true} {
		if h, l, err := holderOf(holderText(12, left)); h != 12 || l != left || err != nil {
			t.Errorf("%v: %d, %v, %v", left, h, l, err)
		}
	}
	if text := holderText(-1, false); text != nil {
		t.Errorf("a lock that is granted says %q", text)
	}
	if _, _, err := holderOf([]byte("somebody left")); err == nil {
		t.Error("somebody is a rank")
	}
}
