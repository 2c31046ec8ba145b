package join

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"banyan/internal/job/env"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// replacement is what a process that replaces a dead one is told at its start. It is nil for any
// other process.
type replacement struct {
	incarnations []proto.Incarnation // of all processes
	gone         []bool              // the process is dead
}

// readReplacement reads what the launcher tells this process as a replacement, nil if it is none.
func readReplacement(procs int) (*replacement, error) {
	incarnations, gone, err := env.ReadIncarnations(procs)
	if incarnations == nil {
		return nil, err
	}
	return &replacement{incarnations, gone}, nil
}

// apply completes the configuration of a process. spares says that the job has some.
func (r *replacement) apply(cfg *process.Config, spares bool) {
	cfg.Heal = (spares || os.Getenv(env.Heal) != "") && cfg.Layout.Degree(cfg.Layout.Rank(cfg.Self)) > 1
	if r != nil {
		cfg.Replacement, cfg.Incarnations, cfg.Gone = true, r.incarnations, r.gone
	}
}

// all are the incarnations of all processes, for the transport. It is nil if all are 0.
func (r *replacement) all() []proto.Incarnation {
	if r == nil {
		return nil
	}
	return slices.Clone(r.incarnations)
}

// of is the incarnation of a process.
func (r *replacement) of(p proto.Proc) proto.Incarnation {
	if r == nil {
		return 0
	}
	return r.incarnations[p]
}

// isGone says whether a process was dead when this one was started.
func (r *replacement) isGone(p proto.Proc) bool { return r != nil && r.gone[p] }

// output holds the descriptors that become a replacement's stdout and stderr once it has its
// donor's state. Until then these are /dev/null. A descriptor that is closed is -1.
type output [2]int

// readOutput takes over the descriptors that the launcher names, nil if it names none. Programs
// that this process starts don't inherit them.
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
		_ = unix.Dup3(fd, i+1, 0) // it fails only for descriptors that the launcher hasn't given
		unix.Close(fd)
	}
}
