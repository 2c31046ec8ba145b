package output

import (
	"io"
	"time"
)

// Printer writes the output of several ranks to one writer, and never puts a line of one rank into
// a line of another. Its methods may be called from several goroutines.
//
// A rank with an unfinished line, such as a prompt, keeps the others waiting, but not for long.
// Then the Printer ends the line with a line end that no rank wrote.
type Printer struct {
	turns *Turns
	// What follows belongs to the one whose turn it is.
	w      io.Writer
	render *Renderer
	err    error
	text   []byte // scratch
}

// NewPrinter makes a Printer. With label, every line begins with the rank in brackets. An
// unfinished line keeps the other ranks waiting for at most hold.
func NewPrinter(w io.Writer, label bool, hold time.Duration) *Printer {
	return &Printer{turns: NewTurns(hold), w: w, render: NewRenderer(label)}
}

// OfJob has labels say whose ranks these are: "2." makes [0] [2.0].
func (p *Printer) OfJob(job string) *Printer {
	p.render.job = job
	return p
}

// Print writes what a rank has emitted: whole lines, and perhaps an unfinished one. It returns the
// first error of the writer, also in later calls.
func (p *Printer) Print(rank int, b []byte) (err error) {
	p.turns.Take(rank, b, func() {
		p.put(rank, b)
		err = p.err
	})
	return err
}

// Note writes a message of the launcher at once, on lines of its own.
func (p *Printer) Note(text string) {
	p.turns.TakeNow([]byte(text), func() { p.put(Launcher, []byte(text)) })
}

// Ended says that a rank writes nothing more: the others don't wait for the end of its line any
// more.
func (p *Printer) Ended(rank int) { p.turns.Ended(rank) }

func (p *Printer) put(source int, b []byte) {
	p.text = p.render.Append(p.text[:0], source, b)
	if p.err == nil {
		_, p.err = p.w.Write(p.text)
	}
}
