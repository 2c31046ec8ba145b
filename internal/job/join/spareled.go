package join

import (
	"errors"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/pmi"
	"banyan/internal/job/spares"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/transport/mesh"
)

// spareKey and a spare's rank in the launcher's eyes are the key of the address of its service.
const spareKey = "banyan-spare-"

// lastWords is how long it may take until a process's last message has been heard.
const lastWords = time.Second

// spareLed is the supervisor of a process in a job with spares: the spare leader. What isn't
// about replacements the processes do among themselves.
type spareLed struct {
	unsupervised
	stage   atomicStage
	facts   *facts
	client  *spares.Client
	service *spares.Service // nil unless this process was started as a spare

	news chan control.Message // from the spare leader
	lost chan chan struct{}   // it has gone; closed when that has been acted on

	jobEnding atomic.Bool // this spare was told that a process has left in order
}

// stage is how far this process is part of the job.
type stage uint32

const (
	inJob   stage = iota // all other processes know it
	waiting              // it is a spare without a slot
	joining              // it has a slot, and some processes don't know it yet
)

type atomicStage struct{ value atomic.Uint32 }

func (s *atomicStage) is(want stage) bool { return stage(s.value.Load()) == want }
func (s *atomicStage) set(to stage)       { s.value.Store(uint32(to)) }

func newSpareLed(j *Job) *spareLed {
	return &spareLed{
		unsupervised: unsupervised{j}, facts: newFacts(j.layout.Procs()),
		news: make(chan control.Message), lost: make(chan chan struct{}),
	}
}

func (s *spareLed) begin() error {
	if s.client == nil {
		if err := s.connect(); err != nil {
			return err
		}
	}
	go s.obey()
	if s.job.replacement != nil {
		s.client.Send(control.Message{Type: control.Arrived, Card: s.job.mesh.Card().String()})
	}
	return nil
}

// connect begins to look for the spare leader. It asks for the addresses of all spares at once,
// since later the launcher might be busy with deaths.
func (s *spareLed) connect() error {
	j := s.job
	first := proto.Proc(j.layout.Procs())
	addresses := make([]string, j.spares)
	for i := range addresses {
		address, err := j.launcher.Get(spareKey + strconv.Itoa(int(first)+i))
		if err != nil && !errors.Is(err, pmi.ErrNoKey) { // a spare that died before has none
			return err
		}
		addresses[i] = address
	}
	s.client = spares.Connect(spares.ClientConfig{
		Meeting: j.meeting(),
		First:   first, Addresses: addresses, Silence: j.timeout,
		Introduce: s.introduce,
		Heard:     s.hear,
		Lost:      s.lose,
		Own:       s.service,
	})
	return nil
}

func (s *spareLed) joinFailed(err error) {
	if s.job.replacement != nil {
		s.job.replacementFailed(err) // the job goes on without it
	}
	s.unsupervised.joinFailed(err)
}

func (s *spareLed) card(p proto.Proc) (mesh.Card, bool) { return s.facts.address(p) }

// introduce returns what a spare leader must know.
func (s *spareLed) introduce() []control.Message {
	j := s.job
	if s.stage.is(waiting) {
		all := []control.Message{{Type: control.Spare, Pid: os.Getpid(), Number: uint64(j.program)}}
		if s.jobEnding.Load() {
			all = append(all, control.Message{Type: control.Finalized})
		}
		return all
	}
	return append([]control.Message{{
		Type: control.Member, Proc: j.self, Incarnation: j.incarnation(),
		Pid: os.Getpid(), Card: j.mesh.Card().String(), Number: uint64(j.program),
	}}, s.facts.tell()...)
}

// hear passes on what the spare leader says.
func (s *spareLed) hear(m control.Message) {
	if !s.job.valid(m.Proc) {
		return
	}
	select {
	case s.news <- m:
	case <-s.job.done:
	}
}

// lose says that the spare leader has gone. It returns when that has been acted on, after all
// that was heard before. A replacement that isn't known to all ends then: if it reached the next
// spare leader first, it would count there as a process of the job.
func (s *spareLed) lose() {
	actedOn := make(chan struct{})
	select {
	case s.lost <- actedOn:
		<-actedOn
	case <-s.job.done:
	}
}

// obey acts on what the spare leader says.
func (s *spareLed) obey() {
	for {
		select {
		case m := <-s.news:
			s.carryOut(m)
		case actedOn := <-s.lost:
			s.leaderLost()
			close(actedOn)
		case <-s.job.done:
			return
		}
	}
}

func (s *spareLed) carryOut(m control.Message) {
	j := s.job
	switch m.Type {
	case control.Death:
		if m.Proc == j.self {
			if m.Incarnation >= j.incarnation() {
				s.client.Close() // it has nothing to say to the next spare leader either
				go j.stop(heldForDead)
			}
			return
		}
		s.facts.died(m.Proc, m.Incarnation)
		j.Engine.Hearsay(m.Proc, m.Incarnation) // the spare leader doesn't reap processes
	case control.Admit:
		if m.Proc != j.self {
			s.facts.admit(m)
			j.neighbours.forget(m.Proc)
			j.Engine.Admit(m.Proc, m.Incarnation)
		}
	case control.Donate:
		j.Engine.Help(m.Proc, m.Incarnation)
	case control.GiveUp:
		j.askedToGiveUp(m)
	case control.Healed:
		s.facts.healed(m.Proc, m.Incarnation)
	case control.Dismissed:
		if s.stage.is(joining) {
			s.exit(m.Code)
		}
	}
}

// leaderLost ends what the lost spare leader had begun.
func (s *spareLed) leaderLost() {
	// No other process knows that it has a slot. The next spare leader takes another spare.
	if s.stage.is(joining) {
		s.exit(0)
	}
	// No process knows either what becomes of a replacement that wasn't known to all.
	if p, incarnation, is := s.facts.unfinished(); is && p != s.job.self {
		s.job.Engine.Hearsay(p, incarnation)
	}
}

// exit ends a process that isn't part of the job, or not yet.
func (s *spareLed) exit(code int) {
	s.job.launcher.Finalize()
	s.job.exit(code)
}

func (s *spareLed) died(r detector.Report) {
	s.facts.died(r.Proc, r.Incarnation)
	s.client.Send(control.Message{Type: control.Eviction, Proc: r.Proc, Incarnation: r.Incarnation})
	s.unsupervised.died(r)
}

// viewed passes on which processes a view excludes.
func (s *spareLed) viewed(e engine.Event) {
	for _, g := range e.View.Gone {
		if g.Why != membership.Left {
			s.facts.exclude(g.Proc, g.Incarnation)
			s.client.Send(control.Message{Type: control.Excluded, Proc: g.Proc, Incarnation: g.Incarnation})
		}
	}
}

func (s *spareLed) recoveryStep(m control.Message) {
	switch m.Type {
	case control.Healable:
		s.facts.canDonate()
	case control.Healed:
		s.stage.set(inJob)
	}
	s.client.Send(m)
}

func (s *spareLed) replacementFailed(m control.Message) {
	if s.client.Send(m) {
		time.Sleep(lastWords) // the spare leader's answer ends this process
	}
}

func (s *spareLed) led(call, where string) {
	s.job.log.Debug("led", "call", call, "where", where)
}

func (s *spareLed) cannotDonate(why string) {
	m := control.Message{Type: control.Unhealable, Text: why}
	if !s.client.Send(m) {
		s.facts.keep(m)
	}
}

func (s *spareLed) abort(group []proto.Proc, code int, why string) {
	if s.stage.is(joining) { // the other replicas came this far and found no reason to abort
		s.job.replacementFailed(aborted(code, why))
	}
	s.unsupervised.abort(group, code, why)
}

func (s *spareLed) leave() {
	s.client.Leave(control.Message{Type: control.Finalized})
	if s.service != nil {
		s.service.Outlast(s.job.timeout + lastWords)
	}
}
