package binding

import (
	"sync"

	"banyan/internal/counters"
	"banyan/internal/layout"
	"banyan/internal/mpi/tool"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// heard is what the process has counted for tools beside its engine.
type heard struct {
	mu           sync.Mutex
	engine       *engine.Engine  // nil before MPI_Init has ended
	last         counters.Record // the engine's, as long as there was one
	losses       tool.Losses
	incarnations map[proto.Proc]proto.Incarnation // of the members of the last view, 0 left out
}

// begin starts the count.
func (h *heard) begin(e *engine.Engine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.engine = e
}

// toolSample is what the process has counted. Before MPI_Init that is nothing.
func (p *Process) toolSample() tool.Sample {
	h := &p.heard
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.engine != nil && p.live() {
		h.last = h.engine.Counted()
	}
	return tool.Sample{Record: h.last, Losses: h.losses}
}

// toolFixed says whether the job's settings are in use.
func (p *Process) toolFixed() bool { return p.state.Load() != fresh }

// Heard counts an event that concerns the process as a whole, and hands it to tools. It doesn't
// wait. Nothing is counted before MPI_Init has ended.
func (p *Process) Heard(e engine.Event) {
	h := &p.heard
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.engine == nil {
		return
	}
	layout := h.engine.Layout()
	switch e.Kind {
	case engine.Died:
		rank := layout.Rank(e.Report.Proc)
		h.losses.Deaths++
		if _, self := h.engine.Self(); rank == self {
			h.losses.Substitutions++
		}
		p.tool.Happened(tool.ProcessDied, int32(rank), int32(layout.Replica(e.Report.Proc)), truth(e.BySilence()))
	case engine.RankLost:
		h.losses.Lost++
		p.tool.Happened(tool.RankLost, int32(e.Rank))
	case engine.Viewed:
		p.viewed(e, layout)
	}
}

// viewed counts a view, and the replacements in it. The lock of heard is held.
func (p *Process) viewed(e engine.Event, layout layout.Layout) {
	h := &p.heard
	h.losses.Views++
	for _, m := range e.View.Members {
		if m.Incarnation > h.incarnations[m.Proc] {
			if h.incarnations == nil {
				h.incarnations = map[proto.Proc]proto.Incarnation{}
			}
			h.incarnations[m.Proc] = m.Incarnation
			h.losses.Heals++
			p.tool.Happened(tool.ReplicaHealed, int32(layout.Rank(m.Proc)), int32(layout.Replica(m.Proc)))
		}
	}
	p.tool.Happened(tool.ViewChanged, int32(e.View.Number), int32(len(e.View.Members)))
}
