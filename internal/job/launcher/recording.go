package launcher

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// recording is the trace of a job while the job runs. There is a trace of each process in a
// directory beside the file that is to hold all of them: those of this host's processes write there
// themselves, the others come from their agents. If the launcher is killed, and none goes on with
// the job, the directory stays.
type recording struct {
	path  string // of the file, absolute
	dir   string
	begin int64 // CLOCK_MONOTONIC, in nanoseconds

	parts sync.WaitGroup // traces that come from other hosts
	mu    sync.Mutex
	cut   []proto.Proc // those whose end is lost with its host
	err   error        // one of them couldn't be written
}

// TraceState is what another launcher must know to merge the trace.
type TraceState struct {
	Path, Dir string
	Begin     int64
}

func (r *recording) state() *TraceState {
	if r == nil {
		return nil
	}
	return &TraceState{r.path, r.dir, r.begin}
}

// recording goes on with a trace.
func (s *TraceState) recording() *recording {
	if s == nil {
		return nil
	}
	return &recording{path: s.Path, dir: s.Dir, begin: s.Begin}
}

// record prepares the recording, if the job has one.
func (p *plan) record() (*recording, error) {
	if p.Trace == "" {
		return nil, nil
	}
	path, err := filepath.Abs(p.Trace)
	if err != nil {
		return nil, &StartError{CodeUsage, fmt.Errorf("the trace: %w", err)}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, &StartError{CodeUsage, fmt.Errorf("the trace: %s is a directory", p.Trace)}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".parts-")
	if err != nil {
		return nil, &StartError{CodeUsage, fmt.Errorf("the trace: %w", err)}
	}
	return &recording{path: path, dir: dir, begin: monotonic()}, nil
}

// traced tells a process where to write, and from when times count.
func (r *recording) traced() *agent.Trace {
	if r == nil {
		return nil
	}
	return &agent.Trace{Dir: r.dir, Begin: r.begin}
}

// collect takes the trace of a process of another host.
func (r *recording) collect(p *process) {
	x, far := p.Process.(agent.Recorded)
	if r == nil || !far {
		return
	}
	from := x.Record()
	if from == nil {
		return
	}
	r.parts.Go(func() {
		defer from.Close()
		to := &partFile{path: r.part(int(p.id))}
		_, err := io.Copy(to, from)
		to.close()
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case to.err != nil:
			r.err = to.err
		case err != nil: // nothing more comes
			r.cut = append(r.cut, p.id)
		}
	})
}

func (r *recording) part(i int) string { return filepath.Join(r.dir, strconv.Itoa(i)+".jsonl") }

// partFile is a file that is made when something is written to it. A launcher that takes over may
// not see the directory of the one before.
type partFile struct {
	path string
	file *os.File
	err  error // the first
}

func (f *partFile) Write(b []byte) (n int, err error) {
	if f.file == nil && f.err == nil {
		if f.err = os.MkdirAll(filepath.Dir(f.path), 0o700); f.err == nil {
			f.file, f.err = os.Create(f.path)
		}
	}
	if f.err == nil {
		n, f.err = f.file.Write(b)
	}
	return n, f.err
}

func (f *partFile) close() {
	if f.file != nil {
		f.err = errors.Join(f.err, f.file.Close())
	}
}

// partsLimit bounds the wait for what agents still have of traces when all processes have ended.
const partsLimit = 20 * time.Second

// gather waits for the traces of other hosts. It returns what the merged trace lacks, in words;
// empty: nothing.
func (r *recording) gather(l layout.Layout) (lacks string, err error) {
	done := make(chan struct{})
	go func() { r.parts.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(partsLimit):
		return "", fmt.Errorf("it hasn't come from all hosts within %v", partsLimit)
	}
	if len(r.cut) == 0 {
		return "", r.err
	}
	slices.Sort(r.cut)
	var names []string
	for _, id := range r.cut {
		names = append(names, fmt.Sprintf("%v replica %d", l.Rank(id), l.Replica(id)))
	}
	return "the trace may lack the last that was recorded on lost hosts, by " + strings.Join(names, ", "), r.err
}

// discard removes the recording of a job that didn't start.
func (r *recording) discard() {
	if r != nil {
		os.RemoveAll(r.dir) // it has at most empty traces
	}
}

// merge makes one trace of all, when no process writes any more. It returns what that lacks, in
// words.
func (r *recording) merge(p *plan) (lacks string, err error) {
	if r == nil {
		return "", nil
	}
	parts := 0
	if lacks, err = r.gather(p.layout); err == nil {
		parts, err = r.mergeParts(p)
	}
	if err != nil {
		return lacks, fmt.Errorf("%w; its parts are in %s", err, r.dir)
	}
	if parts == 0 {
		err = errors.New("no process has recorded anything: does the program use the library?")
	}
	return lacks, errors.Join(err, os.RemoveAll(r.dir))
}

func (r *recording) mergeParts(p *plan) (parts int, err error) {
	procs := max(p.size, p.ranks) // all ranks may be one process
	var readers []io.Reader
	for i := range procs {
		file, err := os.Open(r.part(i))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it died early, or doesn't use the library
		}
		if err != nil {
			return 0, err
		}
		defer file.Close()
		readers = append(readers, file)
	}
	whole := filepath.Join(r.dir, "whole.jsonl")
	file, err := os.Create(whole)
	if err != nil {
		return 0, err
	}
	_, err = trace.Merge(file, trace.Header{Driver: "real", Procs: procs, Unit: "ns", About: p.about()}, readers...)
	if err := errors.Join(err, file.Close()); err != nil {
		return 0, err
	}
	return len(readers), os.Rename(whole, r.path)
}

// about is what the header of a trace says of the job.
func (p *plan) about() string {
	return fmt.Sprintf("run program=%s ranks=%d replicas=%d transport=%s", oneWord(filepath.Base(p.Program)), p.ranks, p.Replicas, p.Transport)
}

// monotonic is the time by CLOCK_MONOTONIC, in nanoseconds.
func monotonic() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // can't fail: the clock is always there
	return now.Nano()
}

// oneWord makes one word of a name.
func oneWord(name string) string { return strings.Join(strings.Fields(name), "_") }
