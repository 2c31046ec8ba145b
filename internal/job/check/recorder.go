package check

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// Recorder writes down what a program calls. It implements engine.Calls.
//
// It writes every event at once, because the process may be killed at any moment.
type Recorder struct {
	mu      sync.Mutex
	file    *os.File
	strings stringTable
	frames  map[uintptr]frame
	scratch []byte
	looking looking
	locate  func() string // the call site of a program that isn't in Go; nil: unknown
}

// FileOf is the record file of a process in the directory of a run.
func FileOf(dir string, p proto.Proc) string { return filepath.Join(dir, strconv.Itoa(int(p))) }

// NewRecorder makes the recorder of a process.
func NewRecorder(dir string, self proto.Proc) (*Recorder, error) {
	file, err := os.Create(FileOf(dir, self))
	if err != nil {
		return nil, fmt.Errorf("the record of calls: %w", err)
	}
	return &Recorder{file: file, frames: make(map[uintptr]frame)}, nil
}

// SetLocator sets a function that finds the call site of a program that isn't in Go. It is called
// on the program's threads, on one at a time, and returns an [Address] as text, or "". It must be
// set before the program's first call.
func (r *Recorder) SetLocator(here func() string) { r.locate = here }

// Calls implements engine.Calls.
func (r *Recorder) Calls(c *engine.Call) {
	e := Event{Kind: Send, Op: c.Op, Context: c.Context, Peer: int32(c.Peer), Tag: c.Tag}
	if c.Collective {
		e.Kind = Collective
	}
	e.digest(c.Parts)
	e.Bytes += uint64(c.Takes)
	r.write(&e, c.Parts)
}

// Receives implements engine.Calls.
func (r *Recorder) Receives(c *engine.Receipt) {
	r.write(&Event{
		Kind: Receive, Context: c.Context, Peer: int32(c.Source), Tag: int32(c.Tag),
		AnySource: c.AnySource, AnyTag: c.AnyTag,
	}, nil)
}

// End says that the program has ended.
func (r *Recorder) End() { r.write(&Event{Kind: End}, nil) }

func (r *Recorder) write(e *Event, parts [][]byte) {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // every Linux has this clock
	e.Time = now.Nano()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name(e)
	r.scratch = appendData(r.scratch[:0], r.looking.data(e, parts))
	r.scratch = r.strings.appendEvent(r.scratch, e)
	_, _ = r.file.Write(r.scratch) // a full disk doesn't end the job: the comparison finds less
}

// frame is what a program counter tells of a call.
type frame struct {
	function string // of MPI, as the program calls it
	place    string // in the program
}

// name notes which MPI function the program calls and, in a Go program, where.
func (r *Recorder) name(e *Event) {
	var room [32]uintptr
	for _, pc := range room[:runtime.Callers(4, room[:])] {
		s, known := r.frames[pc]
		if !known {
			s = frameOf(pc)
			r.frames[pc] = s
		}
		if s.function != "" {
			e.Op = s.function
		}
		if e.Where = s.place; e.Where != "" {
			return
		}
	}
	if r.locate != nil {
		e.Where = r.locate()
	}
}

// Here is where a program in Go calls MPI now; "" in other programs.
func Here() string {
	var room [32]uintptr
	for _, pc := range room[:runtime.Callers(2, room[:])] {
		if s := frameOf(pc); s.place != "" {
			return s.place
		}
	}
	return ""
}

func frameOf(pc uintptr) (s frame) {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "banyan/mpi."):
			s.function, _, _ = strings.Cut(strings.TrimPrefix(f.Function, "banyan/"), "[")
		case strings.HasPrefix(f.Function, "main.banyan_"): // exported to C (package capi)
			s.function = nameInC(strings.TrimPrefix(f.Function, "main.banyan_"))
		case !isLibrary(f.Function):
			s.place = filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
			return s
		}
		if !more {
			return s
		}
	}
}

// isLibrary says whether a function belongs to the library or the Go runtime, not to the program.
func isLibrary(function string) bool {
	for _, prefix := range []string{"banyan/internal/", "runtime.", "_cgo"} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return function == ""
}

// nameInC is MPI's name for a function of package binding, such as MPI_Sendrecv_replace for
// SendrecvReplace.
func nameInC(name string) string {
	b := []byte("MPI_")
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' && i > 0 {
			b = append(b, '_')
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}
