package launch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"time"

	"banyan/internal/fault"
)

// Transports that a job can ask for.
const (
	TransportAuto   = "auto"   // whatever is best
	TransportTCP    = "tcp"    // a process per replica, connected by TCP
	TransportInproc = "inproc" // all ranks are goroutines of one process
)

// Config describes a job. Ranks, Replicas, Program and the streams must be set.
type Config struct {
	Ranks    int // n, at least 1
	Replicas int // of each rank, at least 1
	Program  string
	Args     []string
	// Env is the environment to start from; the job's own variables replace
	// what is there.
	Env []string

	Transport string // empty: auto
	Faults    fault.Plan
	// HeartbeatPeriod and HeartbeatTimeout are the detector's η and δ. 0: the
	// default, or what fits the other one.
	HeartbeatPeriod, HeartbeatTimeout time.Duration
	// Debug says that nobody is taken for dead by silence: whoever debugs the
	// program may stop any of its processes in any way.
	Debug bool

	// Label puts the rank in front of every line of output.
	Label bool

	// Trace is the file for the trace of all frames, empty for none.
	Trace string

	// Stdin goes to every replica of rank 0. A Read that is still waiting when
	// the job ends is abandoned.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// MaxProcs bounds ranks × replicas: one host is to survive a typing error.
const MaxProcs = 4096

// Exit codes of jobs that didn't start, as shells have them.
const (
	CodeUsage         = 2   // the job as described makes no sense
	CodeNotExecutable = 126 // the program can't be executed
	CodeNotFound      = 127 // there is no such program
)

// StartError says why a job didn't start. None of its processes runs.
type StartError struct {
	Code int // exit code to end with
	Err  error
}

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// plan is a checked Config.
type plan struct {
	Config
	path    string // of the program
	size    int    // number of processes
	planned []fault.Event
}

// inproc says whether one process is all ranks.
func (p *plan) inproc() bool { return p.Transport == TransportInproc }

// check turns a Config into a plan, or says what is wrong with it.
func (c Config) check() (*plan, error) {
	p := &plan{Config: c}
	if err := p.checkNumbers(); err != nil {
		return nil, &StartError{CodeUsage, err}
	}
	if err := p.find(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *plan) checkNumbers() (err error) {
	switch {
	case p.Ranks < 1:
		return fmt.Errorf("a job has at least 1 rank, not %d", p.Ranks)
	case p.Replicas < 1:
		return fmt.Errorf("a rank has at least 1 replica, not %d", p.Replicas)
	case p.Ranks > MaxProcs || p.Replicas > MaxProcs || p.Ranks*p.Replicas > MaxProcs:
		return fmt.Errorf("%d ranks × %d replicas are more than %d processes", p.Ranks, p.Replicas, MaxProcs)
	case p.Program == "":
		return errors.New("no program is given")
	}
	if err := p.checkHeartbeats(); err != nil {
		return err
	}
	if p.planned, err = p.Faults.Resolve(p.Ranks, p.Replicas); err != nil {
		return err
	}
	for _, e := range p.planned {
		if e.At.Kind == fault.AtStep {
			return fmt.Errorf("fault plan (%v): steps exist in simulated runs only", e)
		}
	}
	p.size = p.Ranks * p.Replicas
	switch p.Transport {
	case "":
		p.Transport = TransportAuto
	case TransportAuto, TransportTCP:
	case TransportInproc:
		return p.checkInproc()
	default:
		return fmt.Errorf("%q is no transport; there are auto, tcp and inproc", p.Transport)
	}
	return nil
}

// checkInproc refuses what needs a process per rank.
func (p *plan) checkInproc() error {
	p.size = 1
	switch {
	case p.Replicas > 1:
		return errors.New("the transport inproc has all ranks in one process: replicas would die with it")
	case len(p.planned) > 0:
		return errors.New("the transport inproc has all ranks in one process: a fault can't hit just one")
	case p.Label:
		return errors.New("the transport inproc has all ranks in one process: its output can't be told apart by rank")
	}
	return nil
}

// find looks the program up as a shell does.
func (p *plan) find() error {
	path, err := exec.LookPath(p.Program)
	switch {
	case err == nil:
		p.path = path
		return nil
	case errors.Is(err, fs.ErrPermission):
		return &StartError{CodeNotExecutable, fmt.Errorf("%s can't be executed: %w", p.Program, errors.Unwrap(err))}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &StartError{CodeNotFound, fmt.Errorf("%s: there is no such program", p.Program)}
	case errors.Is(err, exec.ErrDot):
		return &StartError{CodeNotFound, fmt.Errorf("%s: say ./%s for the one in this directory", p.Program, p.Program)}
	}
	return &StartError{CodeNotExecutable, fmt.Errorf("%s can't be executed: %w", p.Program, err)}
}
