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
package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

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

// Writer writes a trace. The first error sticks; Flush returns it.
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
	_, _ = t.out.Write(t.buf) // the error sticks
}

// Flush writes what is buffered, and returns the first error of all writing.
func (t *Writer) Flush() error { return t.out.Flush() }

// maxLine bounds the length of a line that Read accepts.
const maxLine = 1 << 20

// Read reads a trace and calls visit for every event. Errors name the line.
func Read(r io.Reader, visit func(Event) error) (Header, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var h Header
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.Banyan != "trace" {
				return h, fmt.Errorf("line 1: not the header of a trace")
			}
			if h.Version != Version {
				return h, fmt.Errorf("line 1: a trace of version %d; this reads %d", h.Version, Version)
			}
			continue
		}
		l := line{}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return h, fmt.Errorf("line %d: %w", n, err)
		}
		e := Event{Time: l.T, Proc: l.Proc, Event: l.Event, Peer: proto.NoProc, Kind: l.Kind}
		if l.Peer != nil {
			e.Peer = *l.Peer
		}
		if err := visit(e); err != nil {
			return h, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return h, err
	}
	if h.Version == 0 {
		return h, fmt.Errorf("empty: not a trace")
	}
	return h, nil
}
