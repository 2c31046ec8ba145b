package launcher

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/status"
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Somebody who watches the job may want a trace of the next second. All agents have their processes
// record that span, and the launcher merges what comes into a file beside the job's other files.

const (
	// spanLead is how long after the request the span begins: until then the processes have heard.
	spanLead = proto.Time(600 * time.Millisecond)
	// spanLength is how long it is.
	spanLength = proto.Time(time.Second)
	// spanLimit bounds the wait for what agents have recorded.
	spanLimit = 15 * time.Second
	// spanEndLimit bounds it when the job has ended.
	spanEndLimit = 2 * time.Second
)

// spanning is a trace of a span that is being taken. The loop owns it.
type spanning struct {
	stop   context.CancelFunc
	result chan status.Event // gets one
}

// beginSpan begins to take a trace, and says so.
func (j *job) beginSpan() (said string, err error) {
	switch {
	case j.recording != nil:
		return "", fmt.Errorf("all is recorded anyway, from the beginning, into %s", j.Trace)
	case !j.Counted:
		return "", errors.New("the processes don't look for such requests: start the job with --status")
	case j.span != nil:
		return "", errors.New("a trace is being taken already")
	}
	file, err := os.CreateTemp(cmp.Or(j.TraceDir, "."), ".banyan-trace-")
	if err != nil {
		return "", fmt.Errorf("the trace can't be written: %w", err)
	}
	from := j.clock() + spanLead
	s := agent.Span{Begin: monotonic() - int64(j.clock()), From: from, Until: from + spanLength}
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(spanLead+spanLength)+spanLimit)
	x := &spanning{stop: stop, result: make(chan status.Event, 1)}
	j.span = x
	var agents []agent.Tracing
	for host, a := range j.hosts.agents {
		if t, is := a.(agent.Tracing); is && !j.hosts.left[host] && len(j.hosts.on[host]) > 0 {
			agents = append(agents, t)
		}
	}
	taking := &spanTrace{file: file, name: oneWord(filepath.Base(j.Program)), about: j.about(), procs: max(j.size, j.ranks)}
	go func() {
		defer stop()
		x.result <- taking.take(ctx, agents, s)
		j.post(j.tellSpan)
	}()
	return fmt.Sprintf("a trace of one second from %.1f s on is taken, as somebody who watches has asked", seconds(from)), nil
}

// tellSpan tells what has become of a trace, if it is taken.
func (j *job) tellSpan() {
	if j.span == nil {
		return
	}
	select {
	case e := <-j.span.result:
		j.span = nil
		e.At = seconds(j.clock())
		j.operated = append(j.operated, e)
		j.note(e.Text)
	default:
	}
}

// endSpan ends what is being taken when the job has ended, with what there is.
func (j *job) endSpan() {
	if j.span == nil {
		return
	}
	j.span.stop()
	select {
	case e := <-j.span.result:
		j.span.result <- e
		j.tellSpan()
	case <-time.After(spanEndLimit):
	}
}

// spanTrace makes a file of what agents have recorded.
type spanTrace struct {
	file        *os.File // a temporary one
	name, about string
	procs       int
}

// take waits for all agents, and says what has become of the trace.
func (t *spanTrace) take(ctx context.Context, agents []agent.Tracing, s agent.Span) status.Event {
	defer os.Remove(t.file.Name()) // it may have another name then
	defer t.file.Close()
	var mu sync.Mutex
	var all sync.WaitGroup
	var sum agent.Recording
	var parts []io.Reader
	var errs []error
	for _, a := range agents {
		all.Go(func() {
			r, err := a.Trace(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("host %s: %w", a.Host().Name, err))
				return
			}
			sum.Processes, sum.Full = sum.Processes+r.Processes, sum.Full+r.Full
			parts = append(parts, bytes.NewReader(r.Trace))
		})
	}
	all.Wait()
	e := status.Event{Kind: status.KindTrace}
	if sum.Processes == 0 {
		errs = append(errs, errors.New("no process has recorded anything"))
		e.Text = fmt.Sprintf("the trace couldn't be taken: %v", errors.Join(errs...))
		return e
	}
	events, err := trace.Merge(t.file, trace.Header{Driver: "real", Procs: t.procs, Unit: "ns", About: t.about}, parts...)
	if err == nil {
		e.File, err = t.keep()
	}
	if err != nil {
		e.Text = fmt.Sprintf("the trace couldn't be written: %v", err)
		return e
	}
	e.Text = fmt.Sprintf("a trace of one second, %d events of %d processes, is in %s", events, sum.Processes, e.File)
	if sum.Full > 0 {
		e.Text += fmt.Sprintf("; %d of them recorded only their first %d", sum.Full, trace.MaxSpan)
	}
	if len(errs) > 0 {
		e.Text += fmt.Sprintf("; it lacks what %v", errors.Join(errs...))
	}
	return e
}

// keep gives the file a name that no other one has, and returns that.
func (t *spanTrace) keep() (path string, err error) {
	if err := t.file.Chmod(0o644); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path, err := filepath.Abs(filepath.Join(filepath.Dir(t.file.Name()), fmt.Sprintf("%s-trace-%d.jsonl", t.name, n)))
		if err != nil {
			return "", err
		}
		taken, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return "", err
		}
		taken.Close()
		return path, os.Rename(t.file.Name(), path)
	}
}
