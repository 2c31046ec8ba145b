package console

import (
	"io"
	"maps"
	"sync"

	"banyan/internal/job/launcher/output"
)

// lasting writes a stream into a launcher's own File, so that every byte of a rank stands there
// once, whichever launcher of the job is lost when. Agents are told to let go of what is on the
// disk, and no earlier: the launcher's machine may die, and the file be elsewhere.
type lasting struct {
	file  *File
	turns *output.Turns
	err   error // the first; it belongs to the one whose turn it is

	mu      sync.Mutex // guards what follows and, with the turn, the file
	changed sync.Cond
	written positions // what wasn't told since
	closed  bool
	over    chan struct{} // closed when all was told
}

// newLasting begins with a file. shown is told how much of each source's stream is on the disk.
func newLasting(f *File, label bool, shown func(source int, to int64)) *lasting {
	f.begin(label)
	l := &lasting{file: f, turns: output.NewTurns(lineHold), written: make(positions), over: make(chan struct{})}
	l.changed.L = &l.mu
	go l.tell(shown)
	return l
}

// Print takes what a rank has written, from byte at of its stream on. It returns the first error of
// the file, also in later calls.
func (l *lasting) Print(rank int, at int64, b []byte) (err error) {
	l.turns.Take(rank, b, func() { err = l.put(rank, at, b) })
	return err
}

// Note takes a message of the launcher.
func (l *lasting) Note(text string) {
	l.turns.TakeNow([]byte(text), func() { l.put(Launcher, l.file.state.have[Launcher], []byte(text)) })
}

// Ended says that a rank writes nothing more.
func (l *lasting) Ended(rank int) { l.turns.Ended(rank) }

func (l *lasting) put(source int, at int64, b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = l.file.put(source, at, b)
	}
	if source != Launcher {
		l.written.set(source, at+int64(len(b))) // a file that can't be written doesn't hold up the job
		l.changed.Broadcast()
	}
	return l.err
}

// tell tells what was written, when it is on the disk.
func (l *lasting) tell(shown func(source int, to int64)) {
	defer close(l.over)
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.written) == 0 && !l.closed {
			l.changed.Wait()
		}
		if len(l.written) == 0 {
			return
		}
		now, side := maps.Clone(l.written), l.file.side
		clear(l.written)
		l.mu.Unlock()
		l.file.file.Sync() // some file systems can't: then they have done what they can
		if side != nil {
			side.Sync() // it was closed if there is a newer one, which is on the disk
		}
		for source, to := range now {
			shown(source, to)
		}
		l.mu.Lock()
	}
}

// close waits until all is on the disk.
func (l *lasting) close() error {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.mu.Unlock()
	<-l.over
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// printed writes a stream to what has no places.
type printed struct{ *output.Printer }

func newPrinted(w io.Writer, label bool) printed {
	return printed{output.NewPrinter(w, label, lineHold)}
}

// Print leaves out where a piece begins.
func (p printed) Print(rank int, _ int64, b []byte) error { return p.Printer.Print(rank, b) }
