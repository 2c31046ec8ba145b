package counters

import (
	"strings"
	"sync"
	"testing"

	"banyan/internal/proto"
)

func TestSpan(t *testing.T) {
	p := newPage(t)
	if s, ok := p.Span(); ok || p.Asked() != 0 {
		t.Errorf("a page of which nothing was asked has %+v", s)
	}
	p.Write(&Record{Stamp: 3, Waits: strings.Repeat("w", MaxText)})
	for n, path := range []string{"", "/tmp/x", strings.Repeat("p", MaxPath), "1234567", "12345678"} {
		want := Span{Number: uint64(n + 1), Begin: -5, From: 7, Until: 9, Path: path}
		if !p.Ask(&want) {
			t.Fatalf("%+v is refused", want)
		}
		if got, ok := p.Span(); !ok || got != want || p.Asked() != want.Number {
			t.Errorf("asked for %+v, read %+v %v", want, got, ok)
		}
	}
	if p.Ask(&Span{Number: 9, Path: strings.Repeat("p", MaxPath+1)}) || p.Asked() != 5 {
		t.Error("a path is taken that is too long")
	}
	if r, ok := p.Read(); !ok || r.Stamp != 3 || len(r.Waits) != MaxText {
		t.Errorf("the record is %+v now", r)
	}
}

// What is read while another span is asked for is whole.
func TestSpanRace(t *testing.T) {
	p := newPage(t)
	paths := [2]string{strings.Repeat("a", MaxPath), strings.Repeat("b", MaxPath/2)}
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for n := uint64(1); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			p.Ask(&Span{Number: n, Begin: int64(n), From: proto.Time(n), Until: proto.Time(n), Path: paths[n%2]})
		}
	})
	for reads := 0; reads < 2000; {
		s, ok := p.Span()
		if !ok {
			continue
		}
		reads++
		if s.Begin != int64(s.Number) || s.Until != proto.Time(s.Number) || s.Path != paths[s.Number%2] {
			t.Fatalf("half of one span and half of another: %+v", s)
		}
	}
	close(stop)
	all.Wait()
}
