package join

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/thinning"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/mesh"
)

// endGrace is how long a process waits for the launcher to end it once the job can't go on, or
// goes on without it, before it ends itself.
const endGrace = 2 * time.Second

// lossGrace is how long a process that holds a rank for lost waits for the launcher to end the job.
// Where agents with leases decide, the launcher needs longer: the rank may be on the other side of
// a cut.
func (j *Job) lossGrace() time.Duration { return max(endGrace, j.leased) }

// launched is the supervisor of a process that "banyan run" has started: the launcher, at the
// other end of the lifeline.
type launched struct {
	job      *Job
	lifeline *control.Conn
	reaped   []atomic.Uint32 // by Proc: of how many incarnations the launcher has announced the death

	results []thinning.Result // of Show; the listener's

	mu      sync.Mutex
	leaving bool              // the program is through
	hearsay []detector.Report // of deaths that others have told, and will have told the launcher
}

func newLaunched(j *Job, lifeline *control.Conn) *launched {
	return &launched{job: j, lifeline: lifeline}
}

func (l *launched) reaps() bool      { return true }
func (l *launched) awaitSlot() error { return nil }

func (l *launched) begin() error {
	l.reaped = make([]atomic.Uint32, l.job.layout.Procs())
	go l.listen()
	err := l.lifeline.Send(control.Message{Type: control.Ready, Pid: os.Getpid()})
	if err != nil || l.job.replacement == nil {
		return err
	}
	return l.lifeline.Send(control.Message{Type: control.Arrived})
}

func (l *launched) joinFailed(err error) {
	if l.job.replacement != nil {
		l.job.replacementFailed(err) // the job goes on without it
	}
	l.job.launcher.Abort(1, err.Error())
}

func (l *launched) card(proto.Proc) (card mesh.Card, is bool) { return card, false }

// listen hears the launcher until one of the two has gone.
func (l *launched) listen() {
	for {
		m, err := l.lifeline.Receive()
		if err != nil {
			// The launcher has gone. No other party cleans up behind this process.
			if !l.job.leaving.Load() {
				l.job.exit(1)
			}
			return
		}
		l.hear(m)
	}
}

// hear acts on certain deaths, departures, debuggers, and the steps of a recovery.
func (l *launched) hear(m control.Message) {
	j := l.job
	switch m.Type {
	case control.Death:
		if j.valid(m.Proc) {
			l.announce(m.Proc, m.Incarnation)
			j.Engine.Evidence(m.Proc, m.Incarnation)
			j.deathElsewhere(m.Proc)
		}
	case control.Count, control.Thin, control.Owe, control.Show:
		l.hearThinning(m)
	case control.Spawned, control.SpawnEnded:
		j.dynamic.heard(m)
	case control.Left:
		if j.valid(m.Proc) {
			j.Engine.Left(m.Proc)
		}
	case control.Admit:
		if j.valid(m.Proc) {
			j.neighbours.forget(m.Proc)
			j.cards.forget(m.Proc)
			j.Engine.Admit(m.Proc, m.Incarnation)
		}
	case control.Donate:
		if j.valid(m.Proc) {
			j.Engine.Help(m.Proc, m.Incarnation)
		}
	case control.Marked:
		j.Engine.Marked(m.Proc, m.Incarnation, m.Input)
	case control.GiveUp:
		j.askedToGiveUp(m)
	case control.Noted:
		j.Engine.Noted(m.Input)
	case control.SnapshotOrder:
		if m.Order != nil && j.snapshots != nil {
			j.snapshots.slot.Store(int32(m.Code & 1))
			j.Engine.Ordered(*m.Order, m.Input)
		}
	case control.Traced, control.Untraced:
		j.Engine.Excuse(m.Proc, m.Type == control.Traced)
	case control.Explain:
		// In a goroutine of its own, in case it is the engine that hangs.
		go func() {
			l.lifeline.Send(control.Message{Type: control.Waits, Number: m.Number, Text: j.explain()})
		}()
	}
}

// announce notes that the launcher has announced a death. That of an earlier incarnation may come
// later: the next launcher tells all that it knows. Only the listener calls it.
func (l *launched) announce(p proto.Proc, i proto.Incarnation) {
	l.reaped[p].Store(max(l.reaped[p].Load(), uint32(i+1)))
}

// died asks the launcher to kill a process that counts as dead, unless another process has.
func (l *launched) died(r detector.Report) {
	if r.Cause == detector.CauseTold && l.job.leased > 0 && !l.keep(r) {
		r.Cause = detector.CauseEvidence
	}
	if r.Cause != detector.CauseTold {
		l.suspect(r)
	}
}

// keep keeps what others have told for later, unless the program is through.
func (l *launched) keep(r detector.Report) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leaving {
		l.hearsay = append(l.hearsay, r)
	}
	return !l.leaving
}

// suspect tells the launcher of a process that counts as dead, unless the launcher has announced
// the death itself.
func (l *launched) suspect(r detector.Report) {
	if l.reaped[r.Proc].Load() <= uint32(r.Incarnation) {
		l.lifeline.Send(control.Message{
			Type: control.Suspect, Proc: r.Proc, Incarnation: r.Incarnation, Silent: time.Duration(r.Silent),
		})
	}
}

// through says that the program is through. Where agents with leases decide, this process leaves
// when the launcher has announced all deaths. The process that has told others of one may have died
// before it could tell the launcher.
func (l *launched) through() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving = true
	if l.job.snapshots != nil {
		l.lifeline.Send(control.Message{Type: control.Through})
	}
	for _, r := range l.hearsay {
		l.suspect(r)
	}
	l.hearsay = nil
}

// viewed reports a view, if this process coordinated it.
func (l *launched) viewed(e engine.Event) {
	if !e.Coordinator {
		return
	}
	m := control.Message{Type: control.View, Number: e.View.Number, Members: len(e.View.Members)}
	for _, g := range e.View.Gone {
		m.Gone = append(m.Gone, control.Gone{Proc: g.Proc, Why: g.Why.String()})
	}
	for _, x := range e.View.Joined {
		m.Joined = append(m.Joined, x.Proc)
	}
	l.lifeline.Send(m)
}

// corrupted names the processes whose data is wrong. The launcher kills them.
func (l *launched) corrupted(c process.Corruption) {
	for _, q := range c.Procs {
		l.lifeline.Send(control.Message{Type: control.Corrupted, Proc: q, Text: c.String()})
	}
}

func (l *launched) thins() bool                { return true }
func (l *launched) thinning(m control.Message) { l.lifeline.Send(m) }

func (l *launched) recoveryStep(m control.Message)      { l.lifeline.Send(m) }
func (l *launched) replacementFailed(m control.Message) { l.lifeline.Send(m) }

func (l *launched) led(call, where string) {
	l.lifeline.Send(control.Message{Type: control.Led, Cause: call, Text: where})
}

func (l *launched) cannotDonate(why string) {
	l.lifeline.Send(control.Message{Type: control.Unhealable, Text: why})
}

func (l *launched) survives() { l.lifeline.Send(control.Message{Type: control.Survive}) }

// rankLost leaves the job's end to the launcher, which knows better than this process. If the
// launcher has announced the loss and lets the job go on, so does this process: some other one
// handles losses. If the launcher doesn't know of it, this process ends.
func (l *launched) rankLost(rank proto.Rank, code int, why string) {
	go l.unlessEnded(func() {
		switch {
		case rank != proto.AnyRank && l.announced(rank):
			return
		case l.job.leased == 0:
			l.job.launcher.Abort(code, why)
		}
		// With leases, the rank may not be lost to those who go on. They go on without this
		// process, which can't. It still tells the launcher of deaths until then.
		l.job.exit(code)
	})
}

func (l *launched) announced(rank proto.Rank) bool {
	for k := range l.job.layout.Degree(rank) {
		if l.reaped[l.job.layout.Proc(rank, k)].Load() == 0 {
			return false
		}
	}
	return true
}

// unlessEnded calls f if the launcher hasn't ended this process for a while, and it hasn't left.
func (l *launched) unlessEnded(f func()) {
	select {
	case <-l.job.done:
		// All processes have left. The one that seemed lost had left before this process heard of
		// it. The launcher knows of a true loss.
	case <-time.After(l.job.lossGrace()):
		f()
	}
}

func (l *launched) awaitKill() { time.Sleep(endGrace) }

func (l *launched) abort(group []proto.Proc, code int, why string) {
	l.job.leaving.Store(true)
	l.lifeline.Send(control.Message{Type: control.Abort, Code: code, Text: why, Group: group})
	time.Sleep(endGrace)
}

// leave says that from now on an exit with code 0 is no death.
func (l *launched) leave() {
	l.lifeline.Send(control.Message{Type: control.Finalized})
	l.lifeline.Close()
}
