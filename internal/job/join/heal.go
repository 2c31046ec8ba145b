package join

import (
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
)

// replacement is what a process that takes the place of a dead one is told at its start; its
// zero value is that of any other.
type replacement struct {
	incarnations []proto.Incarnation
	gone         []bool
}

// readReplacement reads what this process is told as a replacement, nil if it is none.
func readReplacement(procs int) (*replacement, error) {
	incarnations, gone, err := env.ReadIncarnations(procs)
	if incarnations == nil {
		return nil, err
	}
	return &replacement{incarnations, gone}, nil
}

// output is what is to become a replacement's stdout and stderr.
type output [2]int

// readOutput takes over the descriptors that the launcher names, nil if it names none. Programs
// which this process starts don't inherit them.
func readOutput() (*output, error) {
	fds, is, err := env.TakeOutputFDs()
	if !is {
		return nil, err
	}
	o := output(fds)
	for _, fd := range o {
		unix.CloseOnExec(fd)
	}
	return &o, nil
}

// connect makes them stdout and stderr.
func (o *output) connect() {
	for i, fd := range o {
		_ = unix.Dup3(fd, i+1, 0) // it fails for descriptors only that the launcher hasn't given
		unix.Close(fd)
	}
}

// apply completes the configuration of a process. spares says that there are some.
func (n *replacement) apply(cfg *process.Config, spares bool) {
	cfg.Heal = (spares || os.Getenv(env.Heal) != "") && cfg.Layout.Degree(cfg.Layout.Rank(cfg.Self)) > 1
	if n != nil {
		cfg.Replacement, cfg.Incarnations, cfg.Gone = true, n.incarnations, n.gone
	}
}

// all are the incarnations of all processes, for the transport; nil: all are 0.
func (n *replacement) all() []proto.Incarnation {
	if n == nil {
		return nil
	}
	return slices.Clone(n.incarnations)
}

// of is the incarnation of a process.
func (n *replacement) of(p proto.Proc) proto.Incarnation {
	if n == nil {
		return 0
	}
	return n.incarnations[p]
}

func (j *Job) valid(p proto.Proc) bool { return p >= 0 && int(p) < j.layout.Procs() }

// heals tells who replaces the dead how far a healing has come.
func (j *Job) heals(e engine.Event) {
	switch e.Step {
	case process.StepHealable:
		j.facts.canDonate()
		j.tellHealer(control.Message{Type: control.Healable, Opaque: e.Opaque})
	case process.StepMark:
		j.tellHealer(control.Message{Type: control.Mark, Proc: e.Replacement, Incarnation: e.Incarnation})
	case process.StepCommitted:
		j.tellHealer(control.Message{Type: control.Committed})
	case process.StepHealed:
		j.joining.Store(false)
		j.tellHealer(control.Message{Type: control.Healed, Proc: j.self})
	}
}

// tellHealer tells the launcher or the spare leader something, if there is one.
func (j *Job) tellHealer(m control.Message) {
	switch {
	case j.control != nil:
		j.control.Send(m)
	case j.spareLeader != nil:
		j.spareLeader.Send(m)
	}
}

// unhealable says that this process can't give its state to a replacement, now or ever.
func (j *Job) unhealable(why string) {
	if j.control == nil && j.spareLeader == nil {
		j.log.Warn(why)
		return
	}
	m := control.Message{Type: control.Unhealable, Text: why}
	if j.control != nil {
		j.control.Send(m)
	} else if !j.spareLeader.Send(m) {
		j.facts.keep(m)
	}
}

// healFailed ends a replacement that can't take a dead process's place: who replaces the dead says why.
func (j *Job) healFailed(err error) {
	m := control.Message{Type: control.HealFailed, Text: err.Error()}
	if process.Hopeless(err) {
		m.Type = control.Unhealable
	}
	switch {
	case j.control != nil:
		j.control.Send(m)
	case j.spareLeader != nil:
		if j.spareLeader.Send(m) {
			time.Sleep(lastWords) // the spare leader's answer ends it
		}
	}
	j.exit(1)
}

// lastWords is how long it may take until a process's last message has been heard.
const lastWords = time.Second

// errNoLauncher is about a replacement that nobody speaks for.
var errNoLauncher = errors.New(env.Incarnations + " is set, but there is no launcher that replaces processes")

// errNoReplicas is about spares that nobody could make use of.
var errNoReplicas = errors.New(env.Spares + " is set, but no rank has replicas: a rank's only process has nobody to be replaced from")
