// Package trace is the format in which all runs are recorded, simulated and real ones.
//
// A trace is JSON lines. The first is a header:
//
//	{"banyan":"trace","version":1,"driver":"logp","procs":8,"unit":"step","about":"…"}
//
// where driver is "logp" (simulated) or "real", and unit is the unit of times, "step" or "ns".
// Every other line is an event. Events stand in the order in which the driver saw them; in a
// simulated run, times never fall:
//
//	{"t":0,"proc":0,"event":"send","peer":4,"kind":"tree"}
//	{"t":4,"proc":4,"event":"receive","peer":0,"kind":"tree"}
//	{"t":4,"proc":4,"event":"coloured"}
//
// Events:
//
//	send      proc begins to send a message of some kind to peer
//	receive   proc has received a message of some kind from peer
//	drop      a message from peer has arrived at proc, which is dead
//	coloured  the broadcast has reached proc
//	dead      proc is dead from here on
//	wait      proc's program begins to wait in a call
//	resume    nobody in proc waits any more
//
// In a simulated broadcast, the processes are its positions (the root is 0). Readers skip events
// and fields that they don't know. A change that such readers would misunderstand raises the
// version.
//
// About is text for people. Its words of the form name=value are parameters of the run. Pictures
// need L and o, in the trace's unit. A simulated send takes o, from its time on. Then the message
// travels for L and may wait. Its receive takes o, and ends at its time.
//
// # Real runs
//
// A real trace is that of a job, "banyan run --trace FILE". Its driver is "real", its unit "ns",
// its processes are the job's processes, and the kinds of its messages are those of all frames
// between them (internal/runtime/wire): eager, tree, correction, heartbeat, …. The time of a send
// is when a process hands the frame to its transport, of a receive when the frame is routed to a
// machine, of coloured when a broadcast's machine delivers or the root begins, and of dead when a
// process learns of the death. Of several coloured or dead events of a process, the earliest counts
// in pictures. No driver sees how long the processor was busy, so there is no o and no L.
//
// Each process records into a file of its own, with one write for each event. So processes share
// nothing, and a process that is killed has recorded everything that it did. The job's trace has
// their events in the order of their times, under one header ([Merge]). Times count from the
// launcher's start, on the clock that all processes of a host share (CLOCK_MONOTONIC). The clocks
// of two hosts differ by more than the time of a message. A recorder should correct its own clock
// by half of a round trip to process 0, and readers must accept a receive before its send.
package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"banyan/internal/proto"
)

// Version is the version of the format.
const Version = 1

// Header is the first line of a trace.
type Header struct {
	Banyan  string `json:"banyan"` // "trace"
	Version int    `json:"version"`
	Driver  string `json:"driver"` // logp or real
	Procs   int    `json:"procs"`
	Unit    string `json:"unit"` // step or ns
	About   string `json:"about,omitempty"`
}

// Param is the value of the word name=value in About, or "".
func (h Header) Param(name string) string {
	for word := range strings.FieldsSeq(h.About) {
		if n, value, ok := strings.Cut(word, "="); ok && n == name {
			return value
		}
	}
	return ""
}

// Names of events.
const (
	Send     = "send"
	Receive  = "receive"
	Drop     = "drop"
	Coloured = "coloured"
	Dead     = "dead"
	Wait     = "wait"
	Resume   = "resume"
)

// Event is one line. Without a message, Peer is NoProc and Kind is "".
type Event struct {
	Time  proto.Time
	Proc  proto.Proc
	Event string
	Peer  proto.Proc
	Kind  string
}

// line is an Event as it is read.
type line struct {
	T     proto.Time  `json:"t"`
	Proc  proto.Proc  `json:"proc"`
	Event string      `json:"event"`
	Peer  *proto.Proc `json:"peer"`
	Kind  string      `json:"kind"`
}

// Writer writes a trace. It keeps its first error, and Flush returns that.
type Writer struct {
	out *bufio.Writer
	buf []byte
}

// NewWriter writes the header, and fills in its Banyan and Version.
func NewWriter(w io.Writer, h Header) *Writer {
	t := &Writer{out: bufio.NewWriterSize(w, 1<<16)}
	h.Banyan, h.Version = "trace", Version
	// A bufio.Writer keeps its first error; a Header always encodes.
	_ = json.NewEncoder(t.out).Encode(h)
	return t
}

// Write writes an event. It doesn't allocate.
func (t *Writer) Write(e Event) {
	b := append(t.buf[:0], `{"t":`...)
	b = strconv.AppendInt(b, int64(e.Time), 10)
	b = append(b, `,"proc":`...)
	b = strconv.AppendInt(b, int64(e.Proc), 10)
	b = append(b, `,"event":`...)
	b = strconv.AppendQuote(b, e.Event)
	if e.Peer != proto.NoProc {
		b = append(b, `,"peer":`...)
		b = strconv.AppendInt(b, int64(e.Peer), 10)
	}
	if e.Kind != "" {
		b = append(b, `,"kind":`...)
		b = strconv.AppendQuote(b, e.Kind)
	}
	t.buf = append(b, "}\n"...)
	_, _ = t.out.Write(t.buf) // out keeps the error
}

// Flush writes the buffered events, and returns the first error of all writes.
func (t *Writer) Flush() error { return t.out.Flush() }

// MaxSpan bounds how many events a process records of a span of time.
const MaxSpan = 100_000

// MaxLine bounds the length of a line that Read accepts.
const MaxLine = 1 << 20

// Read reads a trace and calls visit for every event. Its errors name the line.
func Read(r io.Reader, visit func(Event) error) (Header, error) {
	return ReadFrom(r, func(Header) error { return nil }, visit)
}

// ReadFrom is Read, and calls begin with the header before the first event.
func ReadFrom(r io.Reader, begin func(Header) error, visit func(Event) error) (Header, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine)
	var h Header
	n := 1
	for ; lines.Scan(); n++ {
		if n == 1 {
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.Banyan != "trace" {
				return h, errors.New("line 1: not the header of a trace")
			}
			if h.Version != Version {
				return h, fmt.Errorf("line 1: a trace of version %d; this reads %d", h.Version, Version)
			}
			if err := begin(h); err != nil {
				return h, fmt.Errorf("line 1: %w", err)
			}
			continue
		}
		l := line{}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return h, fmt.Errorf("line %d: cut short or no event: %w", n, err)
		}
		e := Event{Time: l.T, Proc: l.Proc, Event: l.Event, Peer: proto.NoProc, Kind: l.Kind}
		if l.Peer != nil {
			e.Peer = *l.Peer
		}
		if err := visit(e); err != nil {
			return h, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return h, fmt.Errorf("line %d: longer than %d bytes: not a trace", n, MaxLine)
	} else if err != nil {
		return h, err
	}
	if h.Version == 0 {
		return h, errors.New("empty: not a trace")
	}
	return h, nil
}
