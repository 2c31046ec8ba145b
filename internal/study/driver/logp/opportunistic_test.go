package logp

import (
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
)

// TestOpportunisticMessages: what the kinds of opportunistic correction cost without faults, along
// a binomial tree to 65,536 processes. The numbers of optimised correction are those of an
// independent model of the printed rule.
func TestOpportunisticMessages(t *testing.T) {
	var s Simulator
	for _, x := range []struct {
		correction           broadcast.Correction
		distance, messages   int
		coloured, quiescence proto.Time
	}{
		{broadcast.Optimised, 2, 234_470, 58, 64},
		{broadcast.Optimised, 4, 313_214, 58, 65},
		{broadcast.SkipAhead, 2, 319_148, 58, 65},
		{broadcast.SkipAhead, 4, 481_300, 58, 67},
	} {
		c := Case{Procs: 1 << 16, Latency: 2, Overhead: 1, Tree: Binomial, Correction: x.correction, Distance: x.distance}
		o, err := s.Run(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o.Messages != x.messages || o.Coloring != x.coloured || o.Quiescence != x.quiescence || o.Unreached != 0 {
			t.Errorf("%s: %+v, want %d messages, coloured at %d, quiet at %d", c.Describe(), o, x.messages, x.coloured, x.quiescence)
		}
	}
}
