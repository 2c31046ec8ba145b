package process

import (
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// traceLog is a Recorder that counts.
type traceLog struct {
	sent, received map[frameOf]int
	frames         uint64
	coloured       int
	deaths         []proto.Proc
}

type frameOf struct {
	peer proto.Proc
	kind wire.Kind
}

func (r *traceLog) Sent(to proto.Proc, k wire.Kind)       { r.frames++; r.sent[frameOf{to, k}]++ }
func (r *traceLog) Received(from proto.Proc, k wire.Kind) { r.received[frameOf{from, k}]++ }
func (r *traceLog) Coloured()                             { r.coloured++ }
func (*traceLog) Waits()                                  {}
func (*traceLog) Resumes()                                {}
func (r *traceLog) Died(q proto.Proc)                     { r.deaths = append(r.deaths, q) }

// dying is a program that dies in the middle of its broadcasts. That is before it has entered
// the shutdown barrier, so no process can leave without having learnt of it; and some broadcasts
// have reached it along a tree.
type dying struct {
	*casts
	die func()
}

func (d *dying) step(p *Process) bool {
	d.casts.step(p)
	if len(d.outcome) >= d.total/2 {
		d.die()
	}
	return false
}

// Every frame that leaves is recorded, and every received one has been sent. Broadcasts colour
// once each. Every survivor records the death.
func TestRecorder(t *testing.T) {
	const ranks, total, victim = 5, 20, 3
	for seed := uint64(1); seed <= 10; seed++ {
		tapes := make([]*traceLog, ranks)
		before := make([]uint64, ranks)
		var w *testJob
		w = newTestJob(t, seed, layout.Uniform(ranks, 1), func(r proto.Rank, _ int) program {
			c := &casts{rank: int(r), ranks: ranks, total: total, roots: []int{0}}
			if r == victim {
				return &dying{c, func() { w.crash(victim) }}
			}
			return c
		})
		for i, n := range w.nodes {
			tapes[i] = &traceLog{sent: map[frameOf]int{}, received: map[frameOf]int{}}
			n.p.cfg.Recorder = tapes[i]
			before[i] = n.p.FramesSent
		}
		w.run(0, nil)
		trees := 0
		for i, n := range w.nodes {
			r := tapes[i]
			if r.frames != n.p.FramesSent-before[i] {
				t.Errorf("seed %d: process %d sent %d frames, recorded %d", seed, i, n.p.FramesSent-before[i], r.frames)
			}
			for f, count := range r.received {
				// The first heartbeats went before there was a recorder.
				if sent := tapes[f.peer].sent[frameOf{proto.Proc(i), f.kind}]; count > sent && f.kind != wire.KindHeartbeat {
					t.Errorf("seed %d: process %d received %d %v from %d, which sent %d", seed, i, count, f.kind, f.peer, sent)
				}
				if f.kind == wire.KindTree {
					trees += count
				}
			}
			if !n.dead && (r.coloured != total || !slices.Equal(r.deaths, []proto.Proc{victim})) {
				t.Errorf("seed %d: process %d recorded %d broadcasts and the deaths %v", seed, i, r.coloured, r.deaths)
			}
		}
		if trees == 0 {
			t.Errorf("seed %d: nothing came along a tree", seed)
		}
	}
}
