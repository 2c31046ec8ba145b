package logp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// colourings is a Listener that keeps when each process was coloured, and by what.
type colourings struct{ list []colouring }

type colouring struct {
	at            proto.Time
	by            trace.Purpose
	reached, dead bool
}

func (c *colourings) Sent(trace.Purpose, int) {}
func (c *colourings) Lost(int)                {}
func (c *colourings) Quiet(proto.Time)        {}
func (c *colourings) Process(at proto.Time, by trace.Purpose, reached, dead bool) {
	c.list = append(c.list, colouring{at, by, reached, dead})
}

// TestShared: a broadcast that is shared between two cores, as those to very many processes are,
// does the same as one that isn't.
func TestShared(t *testing.T) {
	var alone, shared Simulator
	shared.run.few = 2
	var a, b colourings
	alone.Listener, shared.Listener = &a, &b
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		a.list, b.list = a.list[:0], b.list[:0]
		want, err := alone.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := shared.Run(&c, nil)
		if err != nil || got != want {
			t.Fatalf("%s: %+v (%v), want %+v", c.Describe(), got, err, want)
		}
		if !slices.Equal(a.list, b.list) {
			t.Fatalf("%s: coloured at %v, want %v", c.Describe(), b.list, a.list)
		}
	})
}

func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 10, 1001} {
		for _, few := range []int{0, 5} {
			done := make([]int, n)
			share(n, few, func(from, to int) {
				for i := from; i < to; i++ {
					done[i]++
				}
			})
			if slices.ContainsFunc(done, func(times int) bool { return times != 1 }) {
				t.Errorf("%d, few are %d: %v", n, few, done)
			}
		}
	}
}
