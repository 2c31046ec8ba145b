package steward

import (
	"testing"

	"banyan/internal/proto"
)

// The steward writes that the job is over, and is gone as soon as that is certain: the others
// haven't heard it. The next steward of theirs must not go on with the job, and all learn the end.
func TestOverAndGone(t *testing.T) {
	next := 0
	for seed := range uint64(20) {
		w := newWorld(setting{hosts: 4, procs: 4, drift: 1000}, seed+1)
		w.finish = 3 * sec
		for at := 3 * sec; w.nodes[0].agent.Outcome().Reason == NotOver; at += sec / 1000 {
			w.until(t, at)
		}
		w.nodes[0].dead = true
		for _, n := range w.nodes[1:] {
			w.call(n, func(now proto.Time, out *[]Action) { n.agent.Closed(now, 0, out) })
		}
		w.until(t, 30*sec)
		for _, n := range w.nodes[1:] {
			if o := n.agent.Outcome().Reason; o != Finished {
				t.Errorf("seed %d: host %d: %v", seed+1, n.host, o)
			}
			if n.agent.term > 1 {
				next++
			}
		}
	}
	if next == 0 {
		t.Error("there was no other steward") // the test shows nothing
	}
}
