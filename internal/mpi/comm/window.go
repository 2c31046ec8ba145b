package comm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/runtime/window"
)

// Causes of errors of windows.
var (
	// ErrFar is about a part of a window that this process can't load from and store to.
	ErrFar = errors.New("the memory can't be reached")
	// ErrMemory: there is too little memory.
	ErrMemory = errors.New("out of memory")
	// ErrNoShare: the members can't share memory, although they are on one host.
	ErrNoShare = errors.New("memory can't be shared")
	// ErrAbandoned is about a lock whose holder has left.
	ErrAbandoned = errors.New("the holder of the lock has left")
)

// WindowConfig is what a member gives to a window.
type WindowConfig struct {
	Size          int64          // of its part
	Unit          int64          // of displacements there
	Own           unsafe.Pointer // the part, if Brings is set
	Host          func(world proto.Rank) int32
	Brings, Apart bool // the part is memory of this process; parts begin at pages of their own
	Closed        bool // others don't copy to and from that memory by the system
}

// WindowPart is a member's part of a window.
type WindowPart struct {
	Size, Unit int64
	At         unsafe.Pointer // nil: this process can't load from there and store to it
	Host       bool           // it belongs to a process of this host, of an unreplicated rank
	// Process, if set, copies to and from the part, which is memory of another process.
	Process *window.Process
}

// Window is parts of memory, one of each member of a communicator. Members on one host load from
// the parts of each other, and store to them. In a replicated job each process has the parts of its
// own only.
type Window struct {
	Parts []WindowPart
	Apart bool // parts begin at pages of their own

	comm   *Comm
	memory *window.Memory // nil: there is nothing to share, nor to lock
	mark   *window.Mark   // of this process's card
	near   []int          // the members on this host
	place  []int          // among near, -1 if elsewhere
}

// recordSize is the length of what members tell each other: size, unit, whether parts are to begin
// at pages, and the card of a part that a program brings.
const recordSize = 17 + window.CardSize

// OpenWindow makes a window. All members call it. The window needs the communicator for itself, and
// for as long as it lives.
func (c *Comm) OpenWindow(cfg WindowConfig) (*Window, error) {
	const op = "OpenWindow"
	n := c.Size()
	own, all := make([]byte, recordSize), make([]byte, recordSize*n)
	binary.LittleEndian.PutUint64(own, uint64(cfg.Size))
	binary.LittleEndian.PutUint64(own[8:], uint64(cfg.Unit))
	if cfg.Apart {
		own[16] = 1
	}
	var mark *window.Mark
	if cfg.Brings && !cfg.Closed && cfg.Size > 0 && !c.copies {
		var card window.Card
		card, mark = window.NewCard(cfg.Own)
		copy(own[17:], card[:])
	}
	if err := c.Allgather(own, all).Run(); err != nil {
		return nil, c.wrap(op, err)
	}
	w := &Window{mark: mark, Parts: make([]WindowPart, n), comm: c, place: make([]int, n), Apart: all[16] != 0}
	for i := range n {
		record := all[recordSize*i:]
		w.Parts[i].Size = int64(binary.LittleEndian.Uint64(record))
		w.Parts[i].Unit = int64(binary.LittleEndian.Uint64(record[8:]))
		w.place[i] = -1
		if i == c.rank || !c.copies && cfg.Host(c.group[i]) == cfg.Host(c.group[c.rank]) {
			w.place[i], w.Parts[i].Host = len(w.near), true
			w.near = append(w.near, i)
			if i != c.rank {
				w.Parts[i].Process = window.Card(record[17:recordSize]).Open()
			}
		}
	}
	if cfg.Brings {
		w.Parts[c.rank].At = cfg.Own
	}
	if err := w.open(cfg.Brings); err != nil {
		w.Close()
		return nil, c.wrap(op, err)
	}
	return w, nil
}

// open makes or opens the memory, and says where the parts are.
func (w *Window) open(brought bool) error {
	offsets, bytes := make([]int, len(w.near)), 0
	if !brought {
		for k, i := range w.near {
			size := w.Parts[i].Size
			if w.Apart && bytes <= math.MaxInt64/4 {
				bytes = window.Pages(bytes)
			}
			if offsets[k] = bytes; size > math.MaxInt64/4-int64(bytes) {
				return fmt.Errorf("the parts of rank %d and those before it are larger than any memory: %w", i, ErrMemory)
			}
			bytes += int(size)
		}
	}
	if err := w.share(bytes, brought); err != nil {
		return err
	}
	if !brought {
		for k, i := range w.near {
			w.Parts[i].At = w.memory.At(offsets[k])
		}
	}
	return nil
}

// share has the members of a host share so many bytes. Its first member makes them.
func (w *Window) share(bytes int, brought bool) (err error) {
	c, self, n := w.comm, w.place[w.comm.rank], len(w.near)
	if c.copies || c.Size() == 1 {
		if !brought {
			w.memory, _, err = window.Make(0, 1, bytes)
			err = cause(err)
		}
		return err
	}
	var ticket window.Ticket
	tickets := make([]byte, len(ticket)*c.Size())
	if self == 0 {
		w.memory, ticket, err = window.Make(self, n, bytes)
	}
	if told := c.Allgather(ticket[:], tickets).Run(); told != nil {
		return told
	}
	if self != 0 {
		copy(ticket[:], tickets[len(ticket)*w.near[0]:])
		w.memory, err = window.Open(ticket, self, n, bytes)
	}
	good, all := []byte{0}, make([]byte, c.Size())
	if err == nil {
		good[0] = 1
	}
	if told := c.Allgather(good, all).Run(); told != nil {
		return told
	}
	if w.memory != nil {
		w.memory.Shut()
	}
	for i, is := range all {
		if is == 0 && i != c.rank && (i == w.near[0] || err == nil) {
			return fmt.Errorf("rank %d has failed, and says why: %w", i, ErrNoShare)
		}
	}
	return cause(err)
}

// cause is an error of package window as one that callers know.
func cause(err error) error {
	switch {
	case err == nil:
		return nil
	case window.TooLarge(err):
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return fmt.Errorf("%w: %w", ErrNoShare, err)
}

// Close ends the use of the window here. The others can still use the memory.
func (w *Window) Close() {
	for i := range w.Parts {
		if p := w.Parts[i].Process; p != nil {
			p.Close()
			w.Parts[i].Process = nil
		}
	}
	runtime.KeepAlive(w.mark)
	if w.memory != nil {
		w.memory.Close()
		w.memory = nil
	}
}
