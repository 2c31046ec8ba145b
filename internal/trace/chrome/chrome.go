// Package chrome writes a trace in the Trace Event Format, which Perfetto (ui.perfetto.dev) and
// chrome://tracing show.
//
// Each process of the job is a process there. A send and a receive are slices (ph "X"), a message
// is a flow (ph "s" and "f") from the one to the other, and a death or a process that a broadcast
// has reached is an instant (ph "i"). The category of a slice is the purpose of its message, so
// that heartbeats can be hidden. A trace with waits has two things more: the waits, in a thread of
// their own below the process's messages, and the critical path (package critical) as one more
// process before all others, with a slice for each segment.
//
// # Invariants
//
//   - A flow has a beginning and an end, each within a slice of its process and time, as viewers
//     want it. A message of which one end is missing has no flow.
//   - Memory is linear in the waits and in the messages that are under way, not in the trace.
//
// # Limits
//
// Times are microseconds there; a step of a simulated run is one. A trace doesn't say how long the
// processor was busy with a message, unless it is a simulated one with o: a slice is as long as o,
// or else a mere mark of up to a microsecond, which ends where the process's next one begins.
package chrome

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"banyan/internal/trace"
	"banyan/internal/trace/critical"
)

// MaxProcs is how many processes are written.
const MaxProcs = 1 << 16

// event is an event of the format. Fields of other phases than its own are left out.
type event struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	Time  *micros        `json:"ts,omitempty"`
	Took  *micros        `json:"dur,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	ID    uint64         `json:"id,omitempty"`
	Bind  string         `json:"bp,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// micros is a time in thousandths of a microsecond.
type micros int64

// MarshalJSON writes microseconds.
func (m micros) MarshalJSON() ([]byte, error) {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Appendf(nil, "%s%d.%03d", sign, m/1000, m%1000), nil
}

// mark is how long a slice is of which nothing is known, at most.
const mark = micros(1000)

// writer writes a trace.
type writer struct {
	out    *bufio.Writer
	err    error
	header trace.Header
	unit   micros // of a time of the trace
	length micros // of a slice; 0: unknown
	first  bool
	line   int
	pairs  trace.Pairs
	// held is the last slice of each process, which is written when it is known how long it may be.
	held []*event
	dead []bool
	// waits is since when each process waits; -1: it doesn't. Those whose waits have a thread are
	// named.
	waits  []micros
	named  []bool
	finder *critical.Finder
}

// waitThread is the thread of a process in which its waits are; messages are in thread 0.
const waitThread = 1

// Write writes the trace that it reads. Nothing that was written is of use if it fails.
func Write(w io.Writer, from io.Reader) error {
	x := &writer{out: bufio.NewWriterSize(w, 1<<16), first: true, line: 1}
	if _, err := trace.ReadFrom(from, x.begin, x.event); err != nil {
		return err
	}
	for p := range x.held {
		x.release(p, -1)
	}
	x.path()
	fmt.Fprintf(x.out, "\n]}\n")
	if err := x.out.Flush(); x.err == nil {
		x.err = err
	}
	return x.err
}

func (x *writer) begin(h trace.Header) error {
	if h.Procs < 1 || h.Procs > MaxProcs {
		return fmt.Errorf("%d processes: want 1 to %d", h.Procs, MaxProcs)
	}
	x.header, x.unit = h, 1000
	if h.Unit == "ns" {
		x.unit = 1
	}
	var o int64
	if n, err := fmt.Sscan(h.Param("o"), &o); n == 1 && err == nil && o > 0 && o < 1<<40 {
		x.length = micros(o) * x.unit
	}
	x.held, x.dead = make([]*event, h.Procs), make([]bool, h.Procs)
	x.waits, x.named, x.finder = make([]micros, h.Procs), make([]bool, h.Procs), critical.NewFinder(h.Procs)
	about, err := json.Marshal(map[string]string{"driver": h.Driver, "unit": h.Unit, "about": h.About})
	if err != nil {
		return err
	}
	fmt.Fprintf(x.out, "{\"displayTimeUnit\":\"ns\",\"otherData\":%s,\"traceEvents\":[", about)
	for p := range h.Procs {
		x.waits[p] = -1
		x.put(&event{Name: "process_name", Phase: "M", Pid: p, Args: map[string]any{"name": fmt.Sprintf("process %d", p)}})
		x.put(&event{Name: "process_sort_index", Phase: "M", Pid: p, Args: map[string]any{"sort_index": p}})
	}
	return nil
}

func (x *writer) put(e *event) {
	text, err := json.Marshal(e)
	if err != nil {
		x.err = err
		return
	}
	if !x.first {
		x.out.WriteByte(',')
	}
	x.first = false
	x.out.WriteByte('\n')
	x.out.Write(text) // the bufio.Writer keeps its first error
}

// maxTime keeps times from overflowing.
const maxTime = 1 << 52

func (x *writer) event(e trace.Event) error {
	x.line++
	if e.Proc < 0 || int(e.Proc) >= x.header.Procs {
		return fmt.Errorf("proc: %d: want 0 to %d", e.Proc, x.header.Procs-1)
	}
	if e.Time < 0 || e.Time > maxTime {
		return fmt.Errorf("t: %d is no time", e.Time)
	}
	at, p := micros(e.Time)*x.unit, int(e.Proc)
	switch e.Event {
	case trace.Send, trace.Receive, trace.Drop:
		if e.Peer < 0 || int(e.Peer) >= x.header.Procs {
			return fmt.Errorf("peer: %d: want 0 to %d", e.Peer, x.header.Procs-1)
		}
		x.message(e, at)
	case trace.Wait:
		if x.waits[p] < 0 {
			x.waits[p] = at
		}
	case trace.Resume:
		x.resume(p, at)
	case trace.Coloured:
		x.put(&event{Name: "coloured", Phase: "i", Cat: "broadcast", Time: &at, Pid: p, Scope: "t"})
	case trace.Dead:
		if !x.dead[p] { // the first process that knew
			x.dead[p] = true
			x.put(&event{Name: "dead", Phase: "i", Cat: "death", Time: &at, Pid: p, Scope: "p"})
		}
	}
	x.finder.Event(e)
	return nil
}

// resume writes a wait that is over.
func (x *writer) resume(p int, at micros) {
	began := x.waits[p]
	if began < 0 {
		return
	}
	if x.waits[p] = -1; !x.named[p] {
		x.named[p] = true
		x.put(&event{Name: "thread_name", Phase: "M", Pid: p, Tid: waitThread, Args: map[string]any{"name": "waits"}})
	}
	took := at - began
	x.put(&event{Name: "waits", Phase: "X", Cat: "wait", Time: &began, Took: &took, Pid: p, Tid: waitThread})
}

// path writes the critical path, if the trace has waits.
func (x *writer) path() {
	path, pid := x.finder.Path(), x.header.Procs
	if path == nil {
		return
	}
	x.put(&event{Name: "process_name", Phase: "M", Pid: pid, Args: map[string]any{"name": "critical path"}})
	x.put(&event{Name: "process_sort_index", Phase: "M", Pid: pid, Args: map[string]any{"sort_index": -1}})
	for _, s := range path {
		name := fmt.Sprintf("%d computes", int(s.Proc))
		switch s.What {
		case critical.Waiting:
			name = fmt.Sprintf("%d waits", int(s.Proc))
		case critical.Flight:
			name = fmt.Sprintf("%s %d to %d", s.Kind, int(s.Proc), int(s.To))
		}
		begin, took := micros(s.Begin)*x.unit, micros(s.End-s.Begin)*x.unit
		x.put(&event{Name: name, Phase: "X", Cat: "critical", Time: &begin, Took: &took, Pid: pid})
	}
}

// message writes one end of a message, and at the second one its flow.
func (x *writer) message(e trace.Event, at micros) {
	name, side := e.Kind+" to ", "to"
	if e.Event == trace.Send {
		x.pairs.Send(e)
	} else {
		name, side = e.Kind+" from ", "from"
		if e.Event == trace.Drop {
			name = "lost " + name
		}
		if x.length > 0 {
			at = max(0, at-x.length) // a simulated receive ends at its time
		}
		if sent, ok := x.pairs.End(e); ok {
			began := micros(sent.At) * x.unit
			x.put(&event{Name: e.Kind, Phase: "s", Cat: "message", Time: &began, Pid: int(e.Peer), ID: sent.Number})
			x.put(&event{Name: e.Kind, Phase: "f", Cat: "message", Time: &at, Pid: int(e.Proc), ID: sent.Number, Bind: "e"})
		}
	}
	p := int(e.Proc)
	x.release(p, at)
	x.held[p] = &event{Name: fmt.Sprint(name, int(e.Peer)), Phase: "X", Cat: trace.PurposeOf(e.Kind).String(), Time: &at, Pid: p,
		Args: map[string]any{side: int(e.Peer), "kind": e.Kind}}
}

// release writes the slice that is held of a process, whose next one begins at a time; -1: there is
// none.
func (x *writer) release(p int, next micros) {
	slice := x.held[p]
	if slice == nil {
		return
	}
	x.held[p] = nil
	length := x.length
	if length == 0 {
		if length = mark; next >= 0 {
			length = min(length, max(1, next-*slice.Time)) // one without a length holds no flow
		}
	}
	slice.Took = &length
	x.put(slice)
}
