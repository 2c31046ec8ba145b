// Package counters is what a process of a job counts for people who watch it: a Record in a page of
// memory that the process shares with its agent. The process writes, the agent reads; neither waits
// for the other, and neither makes a system call. In the other direction the agent asks there for a
// trace of a Span of time.
//
// The process writes some times a second, from the thread that keeps its heartbeats going, and
// copies what it has counted anyway. Nothing is added to the path of a message.
//
// # Invariants
//
//   - A Record that Read returns is one that Write was given, whole: the number at the page's
//     beginning is odd while a Record is being written, and another one afterwards.
//   - All access is atomic, so a page whose writer was killed or stopped in the middle only fails
//     to be read.
//
// # Limits
//
// One process writes the Record, one agent the Span. What a reader gets may be some hundred
// milliseconds old.
package counters

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Size is the size of the memory in bytes.
const Size = words * 8

const (
	words   = 104
	numbers = 15 // of a Record
	// first is where the text begins: behind the sequence number, the format, the numbers, and the
	// text's length.
	first  = 3 + numbers
	format = 2
	// MaxText bounds Record.Waits in bytes.
	MaxText = (asked - first) * 8
	// asked is where the agent asks for a Span: its number, its times, the length of the path, and
	// the path.
	asked = 64
	// MaxPath bounds Span.Path in bytes.
	MaxPath = (words - asked - 5) * 8
)

// Record is what a process has counted since it began.
type Record struct {
	Stamp         uint64 // rises with each Write
	Frames        uint64 // sent, heartbeats included
	Sent          uint64 // messages
	Bytes         uint64 // sent through rings and sockets
	Read          uint64 // bytes of large messages that were read from their senders' memory
	Posted        uint64 // receives that wait
	Unexpected    uint64 // messages that no receive wants yet
	Retained      uint64 // messages that are kept for other replicas
	RetainedBytes uint64
	Safepoints    uint64 // passed
	Expected      uint64 // safe points in all, by the program's word; 0: it hasn't said
	Rounds        uint64 // of the detector: heartbeats that it has sent to its observer
	Late          uint64 // heartbeats that have come late
	WaitsFor      int64  // the rank that it waits for first; -1: any, -2: none
	Waited        uint64 // for how long already, in nanoseconds
	// Waits is what it waits for, in words that continue "rank 3 "; empty: nothing. Write cuts it
	// to MaxText.
	Waits string
}

// AnyRank and NoRank are values of Record.WaitsFor that are no rank.
const (
	AnyRank = -1
	NoRank  = -2
)

// numbers are the fields in their order in the page.
func (r *Record) numbers() [numbers]uint64 {
	return [numbers]uint64{r.Stamp, r.Frames, r.Sent, r.Bytes, r.Read, r.Posted, r.Unexpected, r.Retained, r.RetainedBytes, r.Safepoints, r.Expected, r.Rounds, r.Late, uint64(r.WaitsFor), r.Waited}
}

func (r *Record) set(n [numbers]uint64) {
	r.Stamp, r.Frames, r.Sent, r.Bytes, r.Read, r.Posted, r.Unexpected = n[0], n[1], n[2], n[3], n[4], n[5], n[6]
	r.Retained, r.RetainedBytes, r.Safepoints, r.Expected = n[7], n[8], n[9], n[10]
	r.Rounds, r.Late, r.WaitsFor, r.Waited = n[11], n[12], int64(n[13]), n[14]
}

// Page is the shared memory.
type Page struct{ words []atomic.Uint64 }

// ErrMemory says that memory can't be a page.
var ErrMemory = errors.New("counters: the memory is too small, or isn't aligned")

// On makes a page of shared memory.
func On(memory []byte) (*Page, error) {
	base := unsafe.Pointer(unsafe.SliceData(memory))
	if len(memory) < Size || uintptr(base)%8 != 0 {
		return nil, ErrMemory
	}
	return &Page{unsafe.Slice((*atomic.Uint64)(base), words)}, nil
}

// Write replaces the record. One thread at a time may call it.
func (p *Page) Write(r *Record) {
	w := p.words
	odd := w[0].Load() | 1
	w[0].Store(odd)
	w[1].Store(format)
	for i, n := range r.numbers() {
		w[2+i].Store(n)
	}
	text := r.Waits
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	writeText(w[first-1:], text)
	w[0].Store(odd + 1)
}

// writeText writes the length of a text, and the text.
func writeText(w []atomic.Uint64, text string) {
	w[0].Store(uint64(len(text)))
	for i := 0; i < len(text); i += 8 {
		var word uint64
		for k := 0; k < 8 && i+k < len(text); k++ {
			word |= uint64(text[i+k]) << (8 * k)
		}
		w[1+i/8].Store(word)
	}
}

// readText reads what writeText has written, of so many bytes at most.
func readText(w []atomic.Uint64, most int) (text []byte, ok bool) {
	length := w[0].Load()
	if length > uint64(most) {
		return nil, false
	}
	text = make([]byte, 0, most)
	for i := 0; i < int(length); i += 8 {
		word := w[1+i/8].Load()
		for k := 0; k < 8; k++ {
			text = append(text, byte(word>>(8*k)))
		}
	}
	return text[:length], true
}

// tries is how often Read looks: the writer is done within a microsecond, unless it is
// interrupted.
const tries = 20

// Read reads the record. ok is false if none was written yet, or one is being written.
func (p *Page) Read() (r Record, ok bool) {
	w := p.words
	for range tries {
		before := w[0].Load()
		if before == 0 || before&1 != 0 || w[1].Load() != format {
			continue
		}
		var n [numbers]uint64
		for i := range n {
			n[i] = w[2+i].Load()
		}
		r.set(n)
		text, ok := readText(w[first-1:], MaxText)
		if ok && w[0].Load() == before {
			r.Waits = string(text)
			return r, true
		}
	}
	return Record{}, false
}
