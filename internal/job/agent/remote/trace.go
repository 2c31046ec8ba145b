package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/link"
	"banyan/internal/job/agent/wire"
	"banyan/internal/job/jobdir"
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// A process of another host writes its trace to a directory there, and the agent passes on what it
// finds, while the process runs. So what a lost host's processes have recorded is with the
// launcher, but for the last moment, and no directory must be shared. The files stay until the
// agent ends: a launcher that takes over gets them from their beginning. If the agent and its
// parent are killed together the next agent here that records removes them (package jobdir).

// tracePause is how often the agent looks for more.
const tracePause = 100 * time.Millisecond

// traceKind begins the names of the directories.
const traceKind = "banyan-trace-"

// traces are the traces of this host's processes.
type traces struct {
	sweep func(dir string) // Config.Sweep, or nil

	mu  sync.Mutex
	dir *jobdir.Directory // nil: there are none
}

// begin makes the directory for a process.
func (t *traces) begin(k key) (dir string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == nil {
		if t.dir, err = jobdir.Make(os.TempDir(), traceKind); err != nil {
			return "", fmt.Errorf("there is no directory for traces: %w", err)
		}
		if t.sweep != nil {
			t.sweep(t.dir.Path)
		}
	}
	dir = filepath.Join(t.dir.Path, strconv.Itoa(int(k.proc)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("there is no directory for traces: %w", err)
	}
	return dir, nil
}

// remove removes all traces.
func (t *traces) remove() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir != nil {
		t.dir.Remove()
		t.dir = nil
	}
}

// RemoveTraces removes a directory that an agent has named to Config.Sweep. Nothing else is
// removed.
func RemoveTraces(dir string) error { return jobdir.RemoveLeft(dir, traceKind) }

// record has the processes write their traces here.
func (s *server) record(specs []agent.Spec) error {
	for i := range specs {
		if specs[i].Trace == nil {
			continue
		}
		dir, err := s.traces.begin(key{specs[i].Proc, specs[i].Incarnation})
		if err != nil {
			return err
		}
		specs[i].Trace = &agent.Trace{Dir: dir, Begin: specs[i].Trace.Begin - bootAhead()}
	}
	return nil
}

// bootAhead is how far CLOCK_BOOTTIME, which agents and launchers tell each other, is ahead of
// CLOCK_MONOTONIC, which traces have. It is read once, so that the times of all processes of a
// host fit together: a message isn't received before it is sent. (Only a machine that sleeps
// changes it.)
var bootAhead = sync.OnceValue(readBootAhead)

// The two clocks can't be read at the same moment, and a thread may lose its core in between: of
// some readings the quickest counts.
func readBootAhead() (ahead int64) {
	quickest := int64(math.MaxInt64)
	for range 20 {
		before := monotonic()
		boot := int64(deadline.Now())
		after := monotonic()
		if took := after - before; took < quickest {
			quickest, ahead = took, boot-before-took/2
		}
	}
	return ahead
}

func monotonic() int64 {
	var now unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // it can't fail
	return now.Nano()
}

// passTrace passes on what the process records.
func (p *served) passTrace(to *link.Out) {
	defer to.Close()
	f := traceFiles{dir: p.trace, at: make(map[string]int64)}
	for {
		ended := p.ended.Load()
		n, err := f.copy(to)
		switch {
		case err != nil: // the launcher has gone, or another one goes on
			return
		case n > 0:
		case ended:
			return
		default:
			time.Sleep(tracePause)
		}
	}
}

// traceFiles are those of a process: one for each rank that it runs. They are passed on as one.
type traceFiles struct {
	dir   string
	at    map[string]int64 // how far each was passed on
	begun bool             // a header was
}

// copy passes on the lines that are whole now, and returns how many bytes that was.
func (f *traceFiles) copy(to io.Writer) (n int, err error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		k, err := f.copyOne(e.Name(), to)
		if n += k; err != nil {
			return n, err
		}
	}
	return n, err
}

// copyOne passes on the lines of a file that are whole. What is longer than any line of a trace is
// passed on as it is: the reader of the trace refuses it, and nothing waits for the line's end.
func (f *traceFiles) copyOne(name string, to io.Writer) (n int, err error) {
	file, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var lines []byte
	for _, size := range []int{8 * copied, trace.MaxLine + 1} {
		chunk := make([]byte, size)
		k, err := file.ReadAt(chunk, f.at[name])
		if err != nil && err != io.EOF {
			return 0, err
		}
		if lines = chunk[:bytes.LastIndexByte(chunk[:k], '\n')+1]; len(lines) > 0 {
			break
		}
		if k < size {
			return 0, nil // the line isn't whole
		}
		lines = chunk
	}
	header := 0
	if f.at[name] == 0 && f.begun {
		header = bytes.IndexByte(lines, '\n') + 1
	}
	f.at[name] += int64(len(lines))
	f.begun = true
	_, err = to.Write(lines[header:])
	return len(lines), err
}

// recorded has an agent's processes count the times of their traces from where others do. What two
// kernels say of one time differs by as much as the quickest message between launcher and agent
// takes.
func (r *Remote) recorded(specs []agent.Spec) []agent.Spec {
	all := append([]agent.Spec(nil), specs...)
	for i := range all {
		if t := all[i].Trace; t != nil {
			all[i].Trace = &agent.Trace{Begin: int64(r.there(proto.Time(t.Begin + bootAhead())))}
		}
	}
	return all
}

// Record implements agent.Recorded.
func (p *process) Record() io.ReadCloser {
	if p.record == nil {
		return nil
	}
	return p.record
}

// newTrace makes the stream of a process's trace.
func (p *process) newTrace() { p.record = p.r.link.In(p.key.stream(wire.Trace)) }
