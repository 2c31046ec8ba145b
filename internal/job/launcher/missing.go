package launcher

import (
	"io"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
)

// lostAgent stands for a host that was lost before this launcher took over.
type lostAgent struct{ host agent.Host }

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (l lostAgent) Host() agent.Host                          { return l.host }
func (lostAgent) Start([]agent.Spec) ([]agent.Process, error) { return nil, agent.ErrHostLost }
func (lostAgent) Lost() <-chan struct{}                       { return closed }
func (lostAgent) Close() error                                { return nil }

// missing stands for a process of which no agent knows: its host is lost, or it was never started
// there.
type missing struct {
	lost bool
	pid  int
}

func (m missing) PID() int                   { return m.pid }
func (missing) Stdin() agent.Input           { return nil }
func (missing) Stdout() agent.Output         { return silent{} }
func (missing) Stderr() agent.Output         { return silent{} }
func (missing) PMI() io.ReadWriteCloser      { return silent{} }
func (missing) Say(control.Message)          {}
func (missing) Listen(func(control.Message)) {}
func (missing) Signal(syscall.Signal)        {}
func (missing) State() agent.State           { return agent.State{Ended: true} }
func (missing) Traced(int) bool              { return false }

// Wait implements agent.Process.
func (m missing) Wait() (agent.End, error) {
	if m.lost {
		return agent.End{}, agent.ErrHostLost
	}
	return agent.End{Status: unix.WaitStatus(unix.SIGKILL), At: time.Now()}, nil
}

// silent is a stream that has ended.
type silent struct{}

func (silent) Read([]byte) (int, error)     { return 0, io.EOF }
func (silent) Write([]byte) (int, error)    { return 0, io.ErrClosedPipe }
func (silent) Close() error                 { return nil }
func (silent) Drained(<-chan struct{}) bool { return true }
