package output

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

const forever = time.Hour

func TestPrinterLabels(t *testing.T) {
	var out recorder
	p := NewPrinter(&out, true, forever)
	p.Print(0, []byte("a\nb\n"))
	p.Print(12, []byte("c"))
	p.Print(12, []byte("d\ne\n"))
	p.Note("banyan: hello\n")
	p.Print(1, []byte("\n"))
	if want := "[0] a\n[0] b\n[12] cd\n[12] e\nbanyan: hello\n[1] \n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// Ranks of a job that another one has spawned are told apart from its.
func TestPrinterOfJob(t *testing.T) {
	var out recorder
	NewPrinter(&out, true, forever).OfJob("2.").Print(7, []byte("a\n"))
	if want := "[2.7] a\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestUnfinishedLineKeepsOthersWaiting(t *testing.T) {
	var out recorder
	p := NewPrinter(&out, false, forever)
	p.Print(0, []byte("half"))
	done := make(chan struct{})
	go func() { defer close(done); p.Print(1, []byte("other\n")) }()
	select {
	case <-done:
		t.Fatal("rank 1 tore the line of rank 0")
	case <-time.After(10 * time.Millisecond):
	}
	p.Print(0, []byte(" done\n"))
	<-done
	if want := "half done\nother\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestWaitingForALineEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		hold    time.Duration
		release func(p *Printer)
	}{
		"in time":          {20 * time.Millisecond, func(*Printer) {}},
		"as the rank ends": {forever, func(p *Printer) { p.Ended(0) }},
		"for banyan's own": {forever, func(p *Printer) { p.Note("note\n") }},
	} {
		t.Run(name, func(t *testing.T) {
			var out recorder
			p := NewPrinter(&out, false, tc.hold)
			p.Print(0, []byte("prompt> "))
			done := make(chan struct{})
			go func() { defer close(done); p.Print(1, []byte("other\n")) }()
			tc.release(p)
			<-done
			got := strings.Replace(out.String(), "note\n", "", 1)
			if want := "prompt> \nother\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Whole lines of many ranks never mix.
func TestPrinterLinesStayWhole(t *testing.T) {
	var out recorder
	p := NewPrinter(&out, false, forever)
	var wg sync.WaitGroup
	const ranks, lines = 5, 200
	for rank := range ranks {
		wg.Go(func() {
			for n := range lines {
				half := fmt.Sprintf("rank %d ", rank)
				p.Print(rank, []byte(half))
				p.Print(rank, fmt.Appendf(nil, "line %d\n", n))
			}
		})
	}
	wg.Wait()
	next := make([]int, ranks)
	for line := range strings.Lines(out.String()) {
		var rank, n int
		if c, _ := fmt.Sscanf(line, "rank %d line %d\n", &rank, &n); c != 2 || n != next[rank] {
			t.Fatalf("got line %q", line)
		}
		next[rank]++
	}
}

func TestPrinterTellsWriteErrors(t *testing.T) {
	p := NewPrinter(badWriter{}, false, forever)
	if err := p.Print(0, []byte("x\n")); err != errBad {
		t.Errorf("got %v", err)
	}
}

var errBad = errors.New("bad")

type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { return 0, errBad }
