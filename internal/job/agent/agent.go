// Package agent starts the processes of a job on one host, and stands for that host in the
// launcher.
//
// The launcher decides; an agent carries out. There is one agent on each host of a job. It forks
// the processes, binds them to cores, holds the other ends of their pipes and sockets, sends them
// signals, and reaps them. What only the host's kernel knows (that a process has ended, is stopped,
// is being traced, how much of its input it has read) is known from the agent.
//
// The launcher sees an agent through the interfaces Agent and Process. Local is the agent in the
// launcher's own process: its processes are the launcher's children. So a job on one host and a job
// on many are the same code.
//
// # Invariants
//
//   - A process that was started ends by Wait exactly once, after all that it wrote to its lifeline
//     could be received.
//   - No process outlives its agent: the kernel kills it (PDEATHSIG), and its lifeline ends.
//   - No method waits for a process. Only Start and the methods that say so wait for the agent, and
//     these return when the host is lost.
package agent

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// ErrHostLost says that the agent's host can't be reached any more, and that its processes are
// certainly dead or will never act again: the agent's lease is over.
var ErrHostLost = errors.New("the host is lost")

// Agent starts processes on one host. Its methods may be called from several goroutines.
type Agent interface {
	// Host says what the agent found on its host.
	Host() Host
	// Start starts processes, in this order, and returns one Process for each Spec. If one can't
	// be started none is left, and the error is a *StartError, or ErrHostLost.
	Start(specs []Spec) ([]Process, error)
	// Lost is closed when the host is lost, also if no process runs there. Then Wait returns
	// ErrHostLost for each of its processes whose end isn't known, without delay. An agent that
	// can't be lost returns nil.
	Lost() <-chan struct{}
	// Close kills all processes that are left, and ends the agent.
	Close() error
}

// Showing is an agent that can show the job to people on its host.
type Showing interface {
	Agent
	// Show has it show the job, as words say, and returns where: nil if nowhere. It waits for the
	// agent.
	Show(words []byte) (place []byte, err error)
	// Requests has those answered that come from people who watch it there.
	Requests(answer func(request []byte) []byte)
	// Shown takes how the job is, once Show has returned. A write may wait for the agent.
	Shown() io.WriteCloser
}

// Host describes a host.
type Host struct {
	Name string // what the host calls itself
	// Boot is the kernel's boot id: agents with the same one share a kernel, whatever their names.
	Boot  string
	Cores []int // on which processes may run
	// What the agent was told of its host, if it has started by itself: how many processes the host
	// is for (0: as many as are needed), and what else fails with it (empty: unknown).
	Slots int    `json:",omitempty"`
	Rack  string `json:",omitempty"`
	Zone  string `json:",omitempty"`
}

// Spec says what a process is to be.
type Spec struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation // of the replica slot; above 0: a replacement
	Path        string            // of the program
	Argv        []string
	Dir         string // to start in; empty: the agent's
	MakeDir     bool   // Dir is made if it isn't there
	// Env is the whole environment but for the numbers of descriptors (PMI_FD, env.ControlFD,
	// env.OutputFDs), which the agent adds.
	Env   []string
	Input InputKind
	// Replacement says that the process gets its output streams on further descriptors. Its stdout
	// and stderr are /dev/null, because another replica has already written what it will write
	// first.
	Replacement bool
	// Snapshots says that the process gets the memory in which its snapshots are kept, two
	// versions; the agent keeps it for the next process with this number.
	Snapshots bool
	// Counters says that the process counts for those who watch it: it is a Counting.
	Counters bool
	Cores    []int  // to be bound to, of Host.Cores or not; nil: where the agent may run
	Trace    *Trace // nil: it records nothing
}

// Trace says that a process records its frames.
type Trace struct {
	Dir   string // for its files; the agent of another host has its own
	Begin int64  // from when times count, in nanoseconds of CLOCK_MONOTONIC
}

// Recorded is a process whose trace comes from another host.
type Recorded interface {
	Process
	// Record is its trace, nil if it records nothing. It ends when the process has ended; its error
	// is ErrHostLost if the rest is lost.
	Record() io.ReadCloser
}

// Span is a span of time of which processes record their frames, from From on and before Until.
type Span struct {
	Begin       int64      `json:"begin"` // from when times count, in nanoseconds of CLOCK_MONOTONIC
	From, Until proto.Time // since Begin
}

// Recording is what an agent's processes have recorded of a Span.
type Recording struct {
	Trace     []byte // of all of them; nil: nothing
	Processes int    // so many have recorded anything
	Full      int    // so many of them have recorded only the first events
}

// Tracing is an agent whose processes record a Span when they are asked to: those that count.
type Tracing interface {
	Agent
	// Trace has them record, and waits for the end of the span. When ctx ends it returns what there
	// is.
	Trace(ctx context.Context, s Span) (Recording, error)
}

// SnapshotAgent is an agent that keeps the snapshots of processes.
type SnapshotAgent interface {
	Agent
	// PartDigests says what one of the two memories of a process has. The process mustn't write
	// there meanwhile.
	PartDigests(p proto.Proc, slot int) (PartDigests, error)
	// ReadPart gives some blocks of it, or all of it (nil).
	ReadPart(p proto.Proc, slot int, some *PartBlocks) (io.ReadCloser, error)
	// WritePart replaces these blocks, or all. Close says whether all is there.
	WritePart(p proto.Proc, slot int, some *PartBlocks) (io.WriteCloser, error)
}

// InputKind says what a process gets as stdin.
type InputKind uint8

const (
	NoInput    InputKind = iota // /dev/null
	SomeInput                   // a pipe
	AskedInput                  // a pipe of which Taken can be asked
)

// Adopter is an agent that may have processes of an earlier launcher.
type Adopter interface {
	Agent
	// Adopt takes them over, those that have ended, too. It is called once, before Start, and waits
	// for the agent.
	Adopt(ctx context.Context) ([]Adopted, error)
}

// Adopted is a process that an earlier launcher has started. Its outputs begin at OutputsAt, its
// lifeline and its PMI connection anew: there it repeats the question that wasn't answered.
type Adopted struct {
	Process
	Proc        proto.Proc
	Incarnation proto.Incarnation
	// StdinAt is how much input it was given, and StdinOver says that it gets no more.
	StdinAt   int64
	StdinOver bool
	OutputsAt [2]int64 // of stdout and stderr: what came before isn't kept any more
	Barriers  int      // of PMI that it has left
	// Said is what it has said that the launcher may not have acted on. It isn't said again.
	Said []control.Message
}

// Kept is an output of which the agent keeps what wasn't released, so that another launcher can go
// on there. It keeps a bounded number of bytes; then the process has to wait.
type Kept interface {
	Output
	// Keep must be called before the first Read.
	Keep()
	// Release says that the bytes before offset needn't be kept.
	Release(offset uint64)
}

// StartError says why a process wasn't started. It has only what can be sent to another host.
type StartError struct {
	Proc proto.Proc
	Op   string        // the system call that failed: "execve", "mkdir", "chdir", "socketpair" …
	Err  syscall.Errno // how
}

func (e *StartError) Error() string { return e.Op + ": " + e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// Process is a process that was started, as its launcher sees it.
type Process interface {
	PID() int
	// Stdin is nil if the process has no input.
	Stdin() Input
	Stdout() Output
	Stderr() Output
	// PMI is the connection on which the process asks for the job's key-value space. The caller
	// closes it.
	PMI() io.ReadWriteCloser

	// Say puts a message on the process's lifeline. It doesn't wait. Messages keep their order. A
	// process that has ended hears nothing.
	Say(control.Message)
	// Listen calls heard for each message of the process, in order, until its lifeline ends, and
	// then returns. It must be called once: Wait waits for it.
	Listen(heard func(control.Message))

	// Signal sends a signal to the process and to what it has started, unless it was reaped. If
	// the agent can't be reached, nothing happens.
	Signal(syscall.Signal)
	// State is what the agent knows of the process. It doesn't wait for the agent: what another
	// host's agent knows may be some milliseconds old.
	State() State
	// Traced says whether a debugger is attached to the process, or to the process speaker which
	// speaks for it, unless speaker is 0.
	Traced(speaker int) bool
	// Wait waits until the process has ended and its last words were heard, kills what it leaves
	// in its process group, and says how and when it ended. If the host is lost before that is
	// known the error is ErrHostLost. It must be called once.
	Wait() (End, error)
}

// State of a process.
type State struct {
	Ended   bool // it has ended, reaped or not; then it isn't stopped
	Stopped bool // it is stopped, or will be as soon as the kernel lets it
}

// End is how a process ended.
type End struct {
	Status unix.WaitStatus
	At     time.Time // by the launcher's clock
}

// Input is the launcher's end of a process's stdin.
type Input interface {
	io.WriteCloser // Write fails once the process has closed its stdin, or ended
	// Taken is how many bytes the process has read. It may wait for the agent. The process must
	// not read meanwhile. A Write that is under way may go on afterwards.
	Taken() (int64, error)
}

// Output is what a process writes. If the host is lost it ends, after what had come.
type Output interface {
	io.ReadCloser
	// Drained waits until everything that the process has written so far was read and passed on:
	// the bytes of a Read count as passed on when the next Read begins. The process must write
	// nothing meanwhile. An output that has ended is drained. It returns false if stop is closed
	// first.
	Drained(stop <-chan struct{}) bool
}
