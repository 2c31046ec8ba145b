package output

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// Printer writes the output of several ranks to one writer, and never puts a line of one rank into
// a line of another. Its methods may be called from several goroutines.
//
// A rank with an unfinished line, such as a prompt, keeps the others waiting, but not for long.
// Then the Printer ends the line with a line end that no rank wrote.
type Printer struct {
	label bool
	hold  time.Duration

	mu      sync.Mutex
	changed sync.Cond
	w       io.Writer
	err     error
	// unfinished is the source that wrote the last line, if that hasn't ended.
	unfinished int
	until      time.Time // the others wait until then for the line's end
	labelled   []byte    // scratch
}

// Sources that aren't ranks.
const (
	nobody = -1 // there is no unfinished line
	note   = -2 // the launcher's messages
)

// NewPrinter makes a Printer. With label, every line begins with the rank in brackets. An
// unfinished line keeps the other ranks waiting for at most hold.
func NewPrinter(w io.Writer, label bool, hold time.Duration) *Printer {
	p := &Printer{w: w, label: label, hold: hold, unfinished: nobody}
	p.changed.L = &p.mu
	return p
}

// Print writes what a rank has emitted: whole lines, and perhaps an unfinished one. It returns the
// first error of the writer, also in later calls.
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

// Note writes a message of the launcher at once, on lines of its own.
func (p *Printer) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unfinished != nobody {
		p.finish()
	}
	p.write(note, []byte(text))
}

// Ended says that a rank writes nothing more: the others don't wait for the end of its line any
// more.
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
