package counters

import (
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func newPage(t *testing.T) *Page {
	t.Helper()
	memory := make([]uint64, words)
	p, err := On(unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), Size))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPage(t *testing.T) {
	p := newPage(t)
	if _, ok := p.Read(); ok {
		t.Error("a page that nobody has written can be read")
	}
	long := strings.Repeat("waits ", 200)
	for _, r := range []Record{
		{}, {Stamp: 1, Frames: 2, Sent: 3, Bytes: 4, Read: 5, Posted: 6, Unexpected: 7, Retained: 8, RetainedBytes: 9, Safepoints: 10, Expected: 11, Rounds: 13, Late: 14, WaitsFor: NoRank, Waited: 12, Waits: "waits"},
		{Waits: "waits for a message", WaitsFor: AnyRank}, {Waits: long}, {Stamp: 1<<64 - 1, Waits: "12345678"}, {},
	} {
		p.Write(&r)
		if len(r.Waits) > MaxText {
			r.Waits = r.Waits[:MaxText]
		}
		if got, ok := p.Read(); !ok || got != r {
			t.Errorf("wrote %+v, read %+v %v", r, got, ok)
		}
	}
}

// A writer that was killed in the middle leaves a page that can't be read, and the next one can
// write it.
func TestKilledWriter(t *testing.T) {
	p := newPage(t)
	p.Write(&Record{Stamp: 1})
	p.words[0].Store(p.words[0].Load() | 1)
	if _, ok := p.Read(); ok {
		t.Error("half a record was read")
	}
	p.Write(&Record{Stamp: 2})
	if r, ok := p.Read(); !ok || r.Stamp != 2 {
		t.Errorf("%+v %v", r, ok)
	}
}

// Memory that another process has spoilt is read without harm.
func FuzzRead(f *testing.F) {
	f.Add(make([]byte, Size))
	f.Fuzz(func(t *testing.T, b []byte) {
		memory := make([]uint64, words)
		spoilt := unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), Size)
		copy(spoilt, b)
		p, err := On(spoilt)
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := p.Read(); ok && len(r.Waits) > MaxText {
			t.Errorf("a text of %d bytes", len(r.Waits))
		}
		if s, ok := p.Span(); ok && len(s.Path) > MaxPath {
			t.Errorf("a path of %d bytes", len(s.Path))
		}
	})
}

func TestMemory(t *testing.T) {
	memory := make([]byte, Size+8)
	if _, err := On(memory[:Size-1]); err == nil {
		t.Error("too little memory is a page")
	}
	for i := range 8 {
		if uintptr(unsafe.Pointer(&memory[i]))%8 != 0 {
			if _, err := On(memory[i:]); err == nil {
				t.Error("memory that isn't aligned is a page")
			}
		}
	}
}

// What is read while it is written is whole.
func TestRace(t *testing.T) {
	p := newPage(t)
	texts := [2]string{strings.Repeat("a", MaxText), strings.Repeat("b", MaxText)}
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for n := uint64(1); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			p.Write(&Record{Stamp: n, Frames: n, Sent: n, Safepoints: n, Waited: n, Waits: texts[n%2]})
		}
	})
	for reads := 0; reads < 2000; {
		r, ok := p.Read()
		if !ok {
			continue
		}
		reads++
		if r.Frames != r.Stamp || r.Sent != r.Stamp || r.Safepoints != r.Stamp || r.Waited != r.Stamp || r.Waits != texts[r.Stamp%2] {
			t.Fatalf("half of one record and half of another: %+v", r)
		}
	}
	close(stop)
	all.Wait()
}

func BenchmarkWrite(b *testing.B) {
	memory := make([]uint64, words)
	p, _ := On(unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), Size))
	b.ReportAllocs()
	r := Record{Waits: "waits for a message from rank 3 with tag 7"}
	for b.Loop() {
		p.Write(&r)
	}
}
