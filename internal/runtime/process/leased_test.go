package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// halted hears whether a process must stop for want of a quorum.
type halted struct {
	frameLog
	minority bool
}

func (w *halted) Minority([]membership.Departure) { w.minority = true }

func leasedProcess(self proto.Proc, leased bool) (*Process, *halted) {
	w := &halted{}
	cfg := Config{Self: self, Layout: layout.Uniform(2, 2), Period: 100e6, Timeout: 1e9, Witness: true}
	if leased {
		cfg.Leased = 8e9
	}
	return New(cfg, 0, w, w), w
}

// letPass ticks until a time.
func letPass(p *Process, until proto.Time) {
	for now := p.now; now <= until; now += 50e6 {
		p.At(now)
		p.Tick()
	}
}

// Where agents with leases decide, the silence of the last replica of a rank is borne for longer
// than a lease: a whole rank would be lost by a cut that is over before any lease is.
func TestLastReplicaIsBorne(t *testing.T) {
	for _, leased := range []bool{false, true} {
		p, _ := leasedProcess(0, leased) // it observes process 3
		p.Evidence(1, 0)                 // the other replica of rank 1
		if letPass(p, 8e9); p.Alive(3) != leased {
			t.Errorf("leased %v: after 8 s the silent process is alive: %v", leased, p.Alive(3))
		}
		if letPass(p, 11e9); p.Alive(3) {
			t.Errorf("leased %v: it is borne for ever", leased)
		}
	}
}

// A replica that has a sibling isn't borne.
func TestReplicaIsNotBorne(t *testing.T) {
	p, _ := leasedProcess(0, true)
	if letPass(p, 2e9); p.Alive(3) {
		t.Error("a silent process is alive after 2 s")
	}
}

// Where agents with leases decide, processes without a quorum wait for evidence.
func TestLeasedProcessesWait(t *testing.T) {
	for _, leased := range []bool{false, true} {
		p, w := leasedProcess(3, leased)
		for q := range proto.Proc(3) {
			p.Hearsay(q, 0)
		}
		if letPass(p, 20e9); w.minority == leased {
			t.Errorf("leased %v: it has given up: %v", leased, w.minority)
		}
		for q := range proto.Proc(3) {
			p.Evidence(q, 0)
		}
		if letPass(p, 25e9); leased && (p.View().Number != 2 || len(p.View().Members) != 1) {
			t.Errorf("with evidence the view is %v", p.View())
		}
	}
}

// Where agents with leases decide, no process leaves while a silent one may be alive: it may be on
// the side that goes on. The word of the launcher, or that the process had left, ends the wait. A
// view doesn't.
func TestLeasedProcessesLeaveWhenCertain(t *testing.T) {
	for _, last := range []struct {
		name  string
		comes func(p *Process)
	}{
		{"evidence", func(p *Process) { p.Evidence(3, 0) }},
		{"it had left", func(p *Process) { p.Left(3) }},
	} {
		t.Run(last.name, func(t *testing.T) {
			for _, leased := range []bool{false, true} {
				p, _ := leasedProcess(0, leased)
				p.Finish()
				p.Depart()
				p.Evidence(1, 0)
				p.Hearsay(2, 0)
				p.Hearsay(3, 0)
				if p.Departed() == leased {
					t.Errorf("leased %v: silent processes are awaited: %v", leased, !p.Departed())
				}
				p.Evidence(2, 0)
				p.excluded(3, 0) // as by a view
				if p.Departed() == leased {
					t.Errorf("leased %v: after a view, silent processes are awaited: %v", leased, !p.Departed())
				}
				if last.comes(p); !p.Departed() {
					t.Errorf("leased %v: it waits on", leased)
				}
			}
		})
	}
}
