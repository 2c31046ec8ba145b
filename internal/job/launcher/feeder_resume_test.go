package launcher

import (
	"bytes"
	"io"
	"testing"
	"time"

	"banyan/internal/job/console"
)

// gapped is input that begins later than it was asked to.
type gapped struct {
	gap  bool
	text io.Reader
}

func (g *gapped) Read(b []byte) (int, error) {
	if g.gap {
		g.gap = false
		return 0, console.InputGap{At: 3}
	}
	return g.text.Read(b)
}

// given is what a sink was given.
type given struct {
	bytes.Buffer
	closed chan struct{}
}

func (g *given) Close() error { close(g.closed); return nil }

// Another launcher's input begins where the slowest process is, or later if it isn't kept: then a
// process that would need more gets no more. One that is ahead waits.
func TestFeederGoesOn(t *testing.T) {
	sinks := []*given{{}, {}, {}}
	for _, s := range sinks {
		s.closed = make(chan struct{})
	}
	f := newFeeder(1<<20, 0, []sink{{w: sinks[0], at: 2}, {w: sinks[1], at: 3}, {w: sinks[2], at: 5}})
	f.base = 2
	go f.run(&gapped{gap: true, text: bytes.NewBufferString("defgh")}) // of abcdefgh
	for i, s := range sinks {
		select {
		case <-s.closed:
		case <-time.After(20 * time.Second):
			t.Fatalf("sink %d isn't closed", i)
		}
		if want := []string{"", "defgh", "fgh"}[i]; s.String() != want {
			t.Errorf("sink %d: %q, want %q", i, s.String(), want)
		}
	}
}
