package launcher

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// fakeHost is the agent of another host, of which the test says what runs there.
type fakeHost struct {
	name    string
	started chan agent.Spec
}

func (h *fakeHost) Host() agent.Host      { return agent.Host{Name: h.name, Cores: []int{0, 1}} }
func (h *fakeHost) Lost() <-chan struct{} { return make(chan struct{}) }
func (h *fakeHost) Close() error          { return nil }

func (h *fakeHost) Adopt(context.Context) ([]agent.Adopted, error) { return nil, nil }

func (h *fakeHost) Start(specs []agent.Spec) (procs []agent.Process, err error) {
	for _, s := range specs {
		procs = append(procs, newFakeProcess(false))
		h.started <- s
	}
	return procs, nil
}

// fakeProcess is a process on a fakeHost.
type fakeProcess struct {
	agent.Process // nil: what isn't here isn't called
	told          chan control.Message
	words         chan control.Message
	killed        chan struct{} // closed when it is told to end
	ended         chan struct{} // closed when it has ended
	kill, end     sync.Once
	kills         atomic.Int32
}

func newFakeProcess(ended bool) *fakeProcess {
	p := &fakeProcess{told: make(chan control.Message, 64), words: make(chan control.Message), killed: make(chan struct{}), ended: make(chan struct{})}
	if ended {
		close(p.ended)
		p.end.Do(func() {})
	}
	return p
}

func (p *fakeProcess) PID() int                { return 1000 }
func (p *fakeProcess) Stdin() agent.Input      { return nil }
func (p *fakeProcess) Stdout() agent.Output    { return (*fakeOutput)(p) }
func (p *fakeProcess) Stderr() agent.Output    { return (*fakeOutput)(p) }
func (p *fakeProcess) PMI() io.ReadWriteCloser { return silent{} }
func (p *fakeProcess) Say(m control.Message)   { p.told <- m }
func (p *fakeProcess) Traced(int) bool         { return false }
func (p *fakeProcess) State() (s agent.State)  { return s }
func (p *fakeProcess) finish()                 { p.end.Do(func() { close(p.ended) }) }
func (p *fakeProcess) Wait() (agent.End, error) {
	<-p.ended
	return agent.End{Status: unix.WaitStatus(unix.SIGKILL), At: time.Now()}, nil
}

func (p *fakeProcess) Signal(s syscall.Signal) {
	if s == unix.SIGKILL {
		p.kills.Add(1)
		p.kill.Do(func() { close(p.killed) })
	}
}

func (p *fakeProcess) Listen(heard func(control.Message)) {
	for {
		select {
		case m := <-p.words:
			heard(m)
		case <-p.ended:
			return
		}
	}
}

// fakeOutput is a process's output: nothing, until it ends.
type fakeOutput fakeProcess

func (o *fakeOutput) Read([]byte) (int, error)     { <-o.ended; return 0, io.EOF }
func (o *fakeOutput) Close() error                 { return nil }
func (o *fakeOutput) Drained(<-chan struct{}) bool { return true }

// succeeded is a job of one rank with two replicas. Replica 0 has died, the launcher has begun a
// replacement on host 2, and was lost when its donor, replica 1 on host 1, had said its mark.
type succeeded struct {
	t           *testing.T
	hosts       []*fakeHost
	old         *fakeProcess // replica 0
	donor       *fakeProcess
	replacement *fakeProcess
	over        chan *Report
}

func succeed(t *testing.T, follows bool, but ...func(*Resumption)) *succeeded {
	s := &succeeded{t: t, old: newFakeProcess(true), donor: newFakeProcess(false), replacement: newFakeProcess(false), over: make(chan *Report, 1)}
	state := &State{
		Job: Description{Parts: []Part{{Ranks: 1, Program: "program"}}, Degrees: []int{2}, Heal: true, Places: []int{0, 1},
			HeartbeatPeriod: 100 * time.Millisecond, HeartbeatTimeout: time.Second},
		Paths: []string{"/program"}, Hosts: make([]agent.Host, 3), Lost: make([]bool, 3), Left: make([]bool, 3),
		Slots: []SlotState{
			{Last: 1, Host: 0, Donor: 1, Follows: follows, NextHost: 2, Entry: EntryState{Ready: true, By: proto.NoProc, Kind: uint8(diedEarly), Signal: 9}},
			{Host: 1, Entry: EntryState{Ready: true, By: proto.NoProc}},
		},
		Report: Report{Start: time.Now(), Hosts: make([]HostReport, 3)},
	}
	r := Resumption{State: state, Standing: make([][]agent.Adopted, 3)}
	for i, name := range []string{"h0", "h1", "h2"} {
		h := &fakeHost{name: name, started: make(chan agent.Spec, 8)}
		s.hosts = append(s.hosts, h)
		state.Hosts[i] = h.Host()
		r.Agents = append(r.Agents, h)
	}
	r.Standing[0] = []agent.Adopted{{Process: s.old}}
	r.Standing[1] = []agent.Adopted{{Process: s.donor, Proc: 1, Said: []control.Message{
		{Type: control.Ready}, {Type: control.Healable}, {Type: control.Mark, Proc: 0, Incarnation: 1}}}}
	r.Standing[2] = []agent.Adopted{{Process: s.replacement, Proc: 0, Incarnation: 1, Said: []control.Message{{Type: control.Ready}, {Type: control.Arrived}}}}
	for _, f := range but {
		f(&r)
	}
	var screen bytes.Buffer
	go func() {
		report, err := Resume(Config{Stdout: &screen, Stderr: &screen}, r)
		if err != nil {
			t.Error(err)
		}
		s.over <- report
	}()
	return s
}

// told waits until the donor is told one of some things, and returns it. It returns false if
// nothing of that kind comes for a while.
func (s *succeeded) told(within time.Duration, kinds ...control.Type) (m control.Message, ok bool) {
	for late := time.After(within); ; {
		select {
		case m = <-s.donor.told:
			if slices.Contains(kinds, m.Type) {
				return m, true
			}
		case <-late:
			return m, false
		}
	}
}

// end ends the job.
func (s *succeeded) end() *Report {
	s.t.Helper()
	s.donor.words <- control.Message{Type: control.Abort, Code: 7}
	go func() {
		for _, p := range []*fakeProcess{s.donor, s.replacement} {
			<-p.killed
			p.finish()
		}
	}()
	select {
	case r := <-s.over:
		return r
	case <-time.After(20 * time.Second):
		s.t.Fatal("the job doesn't end")
		return nil
	}
}

// A replacement whose donor's mark the launcher before hadn't answered is ended. As long as it may
// live, because its host can't be reached, nobody is told that it is dead, its donor doesn't give
// its state away, and no other replacement is begun.
func TestLateReplacementIsEnded(t *testing.T) {
	t.Parallel()
	s := succeed(t, false)
	<-s.replacement.killed
	if m, ok := s.told(5*time.Second, control.Death); !ok || m.Incarnation != 0 {
		t.Errorf("%v %v, not the death of the first process", m, ok)
	}
	if m, ok := s.told(200*time.Millisecond, control.Death, control.Marked); ok {
		t.Errorf("%v is told while the replacement lives", m)
	}
	for _, h := range s.hosts {
		if len(h.started) > 0 {
			t.Errorf("another replacement is begun on %s", h.name)
		}
	}
	// A signal to a host that can't be reached is lost.
	for late := time.Now().Add(10 * time.Second); s.replacement.kills.Load() < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it isn't killed again")
		}
	}
	s.replacement.finish()
	for _, kind := range []control.Type{control.Death, control.Marked} {
		if m, ok := s.told(5*time.Second, control.Death, control.Marked); !ok || m.Type != kind || m.Proc != 0 || m.Incarnation != 1 {
			t.Errorf("%v %v, not %v", m, ok, kind)
		}
	}
	select {
	case x := <-s.hosts[0].started:
		if x.Proc != 0 || x.Incarnation != 2 {
			t.Errorf("%+v", x)
		}
	case <-time.After(5 * time.Second):
		t.Error("no other replacement is begun")
	}
	s.end()
}

// A replacement whose donor's mark may have been answered goes on: it may be the last of its rank.
func TestLateReplacementGoesOn(t *testing.T) {
	t.Parallel()
	s := succeed(t, true)
	for _, kind := range []control.Type{control.Admit, control.Marked} {
		if m, ok := s.told(5*time.Second, control.Admit, control.Marked); !ok || m.Type != kind || m.Proc != 0 || m.Incarnation != 1 {
			t.Errorf("%v %v, not %v", m, ok, kind)
		}
	}
	s.donor.finish() // its host, say
	s.replacement.words <- control.Message{Type: control.Committed}
	s.replacement.words <- control.Message{Type: control.Healed}
	s.replacement.words <- control.Message{Type: control.Abort, Code: 7}
	<-s.replacement.killed
	s.replacement.finish()
	r := <-s.over
	if r.ExitCode != 7 || len(r.Heals) != 1 || r.Heals[0].Error != "" || r.Heals[0].Donor != 1 {
		t.Errorf("%+v", r)
	}
}

// A replacement that is nowhere is dead: its host is lost, or it was never started. Its donor would
// wait for it.
func TestLateReplacementIsNowhere(t *testing.T) {
	t.Parallel()
	s := succeed(t, false, func(r *Resumption) { r.Standing[2] = nil })
	if m, ok := s.told(5*time.Second, control.Death); !ok || m.Proc != 0 || m.Incarnation > 1 {
		t.Errorf("%v %v", m, ok)
	}
	if m, ok := s.told(5*time.Second, control.Death, control.Marked); !ok || m.Type != control.Death || m.Incarnation != 1 {
		t.Errorf("%v %v", m, ok)
	}
	s.replacement.Signal(unix.SIGKILL)
	s.end()
}
