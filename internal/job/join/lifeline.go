package join

import (
	"errors"
	"fmt"
	"os"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// endGrace is how long a process waits for the launcher to end it once the job
// can't go on, before it ends itself.
const endGrace = 2 * time.Second

// listen hears the launcher: certain deaths, departures, debuggers, and its own end.
func (j *Job) listen() {
	for {
		m, err := j.control.Receive()
		if err != nil {
			// Nobody is left to clean up behind this process.
			if !j.leaving.Load() {
				j.exit(1)
			}
			return
		}
		switch m.Type {
		case control.Death:
			if j.valid(m.Proc) {
				j.reaped[m.Proc].Store(uint32(m.Incarnation + 1))
				j.Engine.Evidence(m.Proc, m.Incarnation)
			}
		case control.Left:
			j.Engine.Left(m.Proc)
		case control.Admit:
			if j.valid(m.Proc) {
				j.silent.forget(m.Proc)
				j.Engine.Admit(m.Proc, m.Incarnation)
			}
		case control.Donate:
			if j.valid(m.Proc) {
				j.Engine.Help(m.Proc, m.Incarnation)
			}
		case control.Marked:
			j.Engine.Marked(m.Proc, m.Incarnation, m.Input)
		case control.Noted:
			j.Engine.Noted(m.Input)
		case control.Traced, control.Untraced:
			j.Engine.Excuse(m.Proc, m.Type == control.Traced)
		case control.Explain:
			// Elsewhere, should the engine be what hangs.
			go func() { j.control.Send(control.Message{Type: control.Waits, Text: j.Engine.Explain()}) }()
		}
	}
}

// watch acts on what the engine tells of the job.
func (j *Job) watch() {
	defer close(j.watched)
	for {
		select {
		case <-j.done:
			return
		case e := <-j.Engine.Events():
			j.handle(e)
		}
	}
}

func (j *Job) handle(e engine.Event) {
	if j.options.Heard != nil {
		j.options.Heard(e)
	}
	switch e.Kind {
	case engine.Died:
		r := e.Report
		j.log.Debug("a process died", "self", int(j.self), "proc", int(r.Proc), "cause", r.Cause,
			"silent", time.Duration(r.Silent), "by", int(r.By))
		j.facts.died(r.Proc, r.Incarnation)
		if j.spareLeader != nil {
			j.spareLeader.Send(control.Message{Type: control.Eviction, Proc: r.Proc, Incarnation: r.Incarnation})
		}
		if j.control == nil && r.Cause == detector.CauseSilence && j.mesh != nil {
			// Nobody kills it. If it lives it must stop as soon as it can
			// be reached.
			go j.mesh.Tell(r.Proc)
		}
		if j.control != nil && r.Cause != detector.CauseTold && j.reaped[r.Proc].Load() <= uint32(r.Incarnation) {
			j.control.Send(control.Message{
				Type: control.Suspect, Proc: r.Proc, Incarnation: r.Incarnation, Silent: time.Duration(r.Silent),
			})
		}
	case engine.RankLost:
		if !j.survive.Load() {
			j.end(1, fmt.Sprintf("rank %d is lost: the last of its %d replicas died", e.Rank, j.layout.Degree(e.Rank)))
		}
	case engine.Viewed:
		j.viewed(e)
	case engine.Minority:
		j.stop(fmt.Sprintf("%d of %d processes are gone, some of them silent: they may go on without this side, which stops",
			len(e.Gone), len(e.View.Members)))
	case engine.Fenced:
		j.stop(fmt.Sprintf("process %d of the job holds this one for dead: it stops", e.By))
	case engine.Aborted:
		j.end(e.Code, "")
	case engine.Heals:
		j.heals(e)
	case engine.Unhealable:
		j.unhealable(e.Text)
	}
}

// viewed tells the spare leader whom a view excludes, and the launcher of the view, if this process brought
// it about.
func (j *Job) viewed(e engine.Event) {
	for _, g := range e.View.Gone {
		if j.spareLeader != nil && g.Why != membership.Left {
			j.facts.exclude(g.Proc, g.Incarnation)
			j.spareLeader.Send(control.Message{Type: control.Excluded, Proc: g.Proc, Incarnation: g.Incarnation})
		}
	}
	if j.control == nil || !e.Coordinator {
		return
	}
	m := control.Message{Type: control.View, Number: e.View.Number, Members: len(e.View.Members)}
	for _, g := range e.View.Gone {
		m.Gone = append(m.Gone, control.Gone{Proc: g.Proc, Why: g.Why.String()})
	}
	for _, x := range e.View.Joined {
		m.Joined = append(m.Joined, x.Proc)
	}
	j.control.Send(m)
}

// end leaves the job's end to the launcher. If there is none, it ends this process.
// Only this one: what it knows may be one side's view of a cut network, and the
// others find out what concerns them.
func (j *Job) end(code int, why string) {
	if j.leaving.Load() {
		return
	}
	if j.control != nil {
		select {
		case <-j.done:
			// All are through. Who seemed lost had left before this process heard of it; of
			// a true loss the launcher knows.
			return
		case <-time.After(endGrace):
		}
		if j.pmi != nil {
			j.pmi.Abort(code, why) // it knows better than the launcher
		}
	} else if why != "" {
		fmt.Fprintf(os.Stderr, "banyan: process %d: %s\n", j.self, why)
	}
	j.exit(code)
}

// stop ends this process, without which the job goes on. The launcher, if there
// is one, is about to kill it.
func (j *Job) stop(why string) {
	if j.leaving.Load() {
		return
	}
	if j.control != nil {
		time.Sleep(endGrace)
	}
	fmt.Fprintf(os.Stderr, "banyan: process %d: %s\n", j.self, why)
	j.exit(1)
}

// AwaitEnd waits for the end that the loss of a rank brings to the job, if the
// program hasn't asked to survive it. It's for a program that can't go on without
// the rank: its own exit, a moment before the launcher knows of the loss, would be
// reported as the cause.
func (j *Job) AwaitEnd() {
	if !j.survive.Load() {
		time.Sleep(2 * endGrace) // end is quicker
	}
}

// Abort ends the whole job with an exit code, unless the job holds this process for dead and goes on
// without it: a program's error is a consequence of that then. It doesn't return.
func (j *Job) Abort(code int, why string) {
	if j.Engine.Fenced() {
		j.stop("the job holds this process for dead: it stops")
		j.exit(1)
	}
	if j.joining.Load() { // the others came this far, and found no reason
		j.healFailed(fmt.Errorf("it aborted with code %d: %s", code, why))
	}
	j.leaving.Store(true)
	if j.control != nil {
		j.control.Send(control.Message{Type: control.Abort, Code: code, Text: why})
		time.Sleep(endGrace)
	} else {
		if why != "" {
			fmt.Fprintf(os.Stderr, "banyan: process %d aborts the job: %s\n", j.self, why)
		}
		j.Engine.Abort(code)
		if j.pmi != nil {
			j.pmi.Abort(code, why)
		}
	}
	j.exit(code)
}

// Leave waits until everyone is ready to leave, and leaves. Only the first call
// does anything.
func (j *Job) Leave() error {
	if j.left.Swap(true) {
		return nil
	}
	if j.calls != nil {
		j.calls.End()
	}
	err := j.Engine.Finish()
	if diverged := (*process.DivergedError)(nil); errors.As(err, &diverged) {
		j.Abort(1, err.Error())
	}
	j.leaving.Store(true)
	close(j.done)
	<-j.watched
	for len(j.Engine.Events()) > 0 {
		// A death found on the way out: the launcher has to fence who is silent.
		j.handle(<-j.Engine.Events())
	}
	if errors.Is(err, process.ErrFenced) {
		return err // this end is not in order
	}
	if j.spareLeader != nil {
		j.spareLeader.Leave(control.Message{Type: control.Finalized})
	}
	if j.service != nil {
		j.service.Outlast(j.silence + lastWords)
	}
	if j.control != nil {
		// From here on an exit is in order.
		j.control.Send(control.Message{Type: control.Finalized})
		j.control.Close()
	}
	if j.pmi != nil {
		j.pmi.Finalize()
	}
	return err
}
