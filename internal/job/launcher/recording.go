package launcher

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"banyan/internal/job/env"
	"banyan/internal/trace"
)

// recording is the trace of a job while the job runs. Each process writes a trace of its own, in a
// directory beside the file that is to hold all of them. If the launcher is killed, and none goes
// on with the job, the directory stays.
type recording struct {
	path  string // of the file, absolute
	dir   string
	begin int64 // CLOCK_MONOTONIC, in nanoseconds
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
	return &recording{s.Path, s.Dir, s.Begin}
}

// record prepares the recording, if the job has one.
func (p *plan) record() (*recording, error) {
	if p.Trace == "" {
		return nil, nil
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return nil, &StartError{1, fmt.Errorf("the trace: clock_gettime: %w", err)}
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
	return &recording{path, dir, now.Nano()}, nil
}

// environment tells the processes where to write, and from when times count.
func (r *recording) environment() []string {
	if r == nil {
		return nil
	}
	return []string{env.Trace + "=" + r.dir, env.TraceBegin + "=" + strconv.FormatInt(r.begin, 10)}
}

// discard removes the recording of a job that didn't start.
func (r *recording) discard() {
	if r != nil {
		os.RemoveAll(r.dir) // it has at most empty traces
	}
}

// merge makes one trace of all, when no process writes any more.
func (r *recording) merge(p *plan) error {
	if r == nil {
		return nil
	}
	parts, err := r.mergeParts(p)
	if err != nil {
		return fmt.Errorf("%w; its parts are in %s", err, r.dir)
	}
	if parts == 0 {
		err = errors.New("no process has recorded anything: does the program use the library?")
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

func (r *recording) mergeParts(p *plan) (parts int, err error) {
	procs := max(p.size, p.ranks) // all ranks may be one process
	var readers []io.Reader
	for i := range procs {
		file, err := os.Open(filepath.Join(r.dir, strconv.Itoa(i)+".jsonl"))
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
	_, err = trace.Merge(file, trace.Header{Driver: "real", Procs: procs, Unit: "ns", About: fmt.Sprintf(
		"run program=%s ranks=%d replicas=%d transport=%s", oneWord(filepath.Base(p.Program)), p.ranks, p.Replicas, p.Transport,
	)}, readers...)
	if err := errors.Join(err, file.Close()); err != nil {
		return 0, err
	}
	return len(readers), os.Rename(whole, r.path)
}

// oneWord makes one word of a name.
func oneWord(name string) string { return strings.Join(strings.Fields(name), "_") }
