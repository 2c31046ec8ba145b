package output

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// Printer writes the output of several ranks to one writer, without tearing a
// line of one into a line of another. Its methods may be called from several
// goroutines.
//
// A rank whose line is unfinished, as that of a prompt is, keeps the others
// waiting, but not for long: then the line is ended for it, by a line end that
// no rank wrote.
type Printer struct {
	label bool
	hold  time.Duration

	mu      sync.Mutex
	changed sync.Cond
	w       io.Writer
	err     error
	// unfinished is the source that wrote the last line, if that hasn't ended.
	unfinished int
	until      time.Time // when the others have waited long enough for it
	labelled   []byte    // scratch
}

// note is the source of messages that aren't a rank's, nobody that there is no
// unfinished line.
const (
	nobody = -1
	note   = -2
)

// NewPrinter makes a Printer. With label, every line begins with the rank in
// brackets. An unfinished line keeps the others waiting for hold at most.
func NewPrinter(w io.Writer, label bool, hold time.Duration) *Printer {
	p := &Printer{w: w, label: label, hold: hold, unfinished: nobody}
	p.changed.L = &p.mu
	return p
}

// Print writes what a rank has emitted: whole lines, and perhaps an unfinished
// one. It returns the first error that the writer ever gave.
func (p *Printer) Print(rank int, b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.unfinished != rank && p.unfinished != nobody {
		wait := time.Until(p.until)
		if wait <= 0 {
			p.finish()
			break
		}
		timer := time.AfterFunc(wait, p.changed.Broadcast)
		p.changed.Wait()
		timer.Stop()
	}
	p.write(rank, b)
	return p.err
}

// Note writes a message that is no rank's, at once, as lines of their own.
func (p *Printer) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unfinished != nobody {
		p.finish()
	}
	p.write(note, []byte(text))
}

// Ended says that nothing more comes from a rank: nobody waits for the end of
// its line any more.
func (p *Printer) Ended(rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unfinished == rank {
		p.until = time.Time{}
		p.changed.Broadcast()
	}
}

// finish ends the unfinished line.
func (p *Printer) finish() {
	p.put(newline)
	p.unfinished = nobody
}

func (p *Printer) write(source int, b []byte) {
	if len(b) == 0 {
		return
	}
	begun := p.unfinished == source
	if b[len(b)-1] == '\n' {
		p.unfinished = nobody
		p.changed.Broadcast()
	} else {
		p.unfinished = source
		p.until = time.Now().Add(p.hold)
	}
	if p.label && source != note {
		b = p.addLabels(source, begun, b)
	}
	p.put(b)
}

// addLabels puts a label in front of every line that starts in b.
func (p *Printer) addLabels(rank int, begun bool, b []byte) []byte {
	out := p.labelled[:0]
	for line := range bytes.Lines(b) {
		if !begun {
			out = fmt.Appendf(out, "[%d] ", rank)
		}
		begun = false
		out = append(out, line...)
	}
	p.labelled = out
	return out
}

func (p *Printer) put(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}
