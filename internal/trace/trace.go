// Package trace is the one format in which runs are recorded, simulated and
// real ones.
//
// A trace is JSON lines. The first is a header:
//
//	{"banyan":"trace","version":1,"driver":"logp","procs":8,"unit":"step","about":"…"}
//
// where driver is "logp" (simulated) or "real", and unit what times count in:
// "step" or "ns". Every other line is an event, in the order in which the
// driver saw them, times never falling in a simulated run:
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
//
// Positions of a simulated broadcast are its processes. Readers skip events and
// fields that they don't know; a change that such readers would misunderstand
// raises the version.
//
// About is text for people, in which words of the form name=value are parameters
// of the run: L and o, in the trace's unit, are what pictures need. A simulated
// send takes o from its time on; the message then travels for L, may wait, and its
// receive ends at its time, having taken o.
//
// # Real runs
//
// A real trace is that of a job, "banyan run --trace FILE". Its driver is "real", its unit "ns",
// its positions are the job's processes, and the kinds of its messages those of all frames
// between them (internal/runtime/wire): eager, tree, correction, heartbeat, …. Send is when a process
// hands the frame to its transport, receive when the frame is routed to a machine, coloured
// when a broadcast's machine delivers, or the root begins (of several broadcasts each is noted, and
// the earliest counts in pictures), dead when a process learns that another is (the earliest counts,
// too). No driver sees how long the processor was busy, so there is no o, and no L.
//
// Each process records into a file of its own, one write for each event, so that nothing is shared
// and a process that is killed has recorded all that it did; the job's trace is their
// events in the order of their times, under one header ([Merge]). Times count from the launcher's
// start, on the clock that all processes of a host share (CLOCK_MONOTONIC). Between hosts,
// clocks differ by more than a message takes: a recorder should correct its own by half
// of a round trip to process 0, and readers must bear a receive before its send.
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

// Version is the format's.
const Version = 1

// Header is a trace's first line.
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
)

// Event is one line. Peer and Kind are NoProc and "" where there is no message.
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

// NewWriter writes the header. Its Banyan and Version are filled in.
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

// Flush writes what is buffered, and returns the first error of all writing.
func (t *Writer) Flush() error { return t.out.Flush() }

// maxLine bounds the length of a line that Read accepts.
const maxLine = 1 << 20

// Read reads a trace and calls visit for every event. Errors name the line.
func Read(r io.Reader, visit func(Event) error) (Header, error) {
	return ReadFrom(r, func(Header) error { return nil }, visit)
}

// ReadFrom is Read for who wants to see the header before the events.
func ReadFrom(r io.Reader, begin func(Header) error, visit func(Event) error) (Header, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
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
		return h, fmt.Errorf("line %d: longer than %d bytes: not a trace", n, maxLine)
	} else if err != nil {
		return h, err
	}
	if h.Version == 0 {
		return h, errors.New("empty: not a trace")
	}
	return h, nil
}
