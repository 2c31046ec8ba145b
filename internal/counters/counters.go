// Package counters is what a process of a job counts for people who watch it: a Record in a page of
// memory that the process shares with its agent. The process writes, the agent reads; neither waits
// for the other, and neither makes a system call.
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
// One process writes. What a reader gets may be some hundred milliseconds old.
package counters

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Size is the size of the memory in bytes.
const Size = words * 8

const (
	words   = 64
	numbers = 12 // of a Record
	// first is where the text begins: behind the sequence number, the format, the numbers, and the
	// text's length.
	first  = 3 + numbers
	format = 1
	// MaxText bounds Record.Waits in bytes.
	MaxText = (words - first) * 8
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
	return [numbers]uint64{r.Stamp, r.Frames, r.Sent, r.Bytes, r.Read, r.Posted, r.Unexpected, r.Retained, r.RetainedBytes, r.Safepoints, uint64(r.WaitsFor), r.Waited}
}

func (r *Record) set(n [numbers]uint64) {
	r.Stamp, r.Frames, r.Sent, r.Bytes, r.Read, r.Posted, r.Unexpected = n[0], n[1], n[2], n[3], n[4], n[5], n[6]
	r.Retained, r.RetainedBytes, r.Safepoints, r.WaitsFor, r.Waited = n[7], n[8], n[9], int64(n[10]), n[11]
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
	w[first-1].Store(uint64(len(text)))
	for i := 0; i < len(text); i += 8 {
		var word uint64
		for k := 0; k < 8 && i+k < len(text); k++ {
			word |= uint64(text[i+k]) << (8 * k)
		}
		w[first+i/8].Store(word)
	}
	w[0].Store(odd + 1)
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
		length := w[first-1].Load()
		if length > MaxText {
			continue
		}
		text := make([]byte, 0, MaxText)
		for i := 0; i < int(length); i += 8 {
			word := w[first+i/8].Load()
			for k := 0; k < 8; k++ {
				text = append(text, byte(word>>(8*k)))
			}
		}
		if w[0].Load() == before {
			r.Waits = string(text[:length])
			return r, true
		}
	}
	return Record{}, false
}
