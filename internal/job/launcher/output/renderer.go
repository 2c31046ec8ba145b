package output

import (
	"bytes"
	"fmt"
)

// Renderer makes text of what several ranks write in turns. A line that a rank leaves unfinished is
// ended, with a line end that no rank wrote, when another source goes on. It is pure.
type Renderer struct {
	label bool   // every line of a rank begins with the rank in brackets
	job   string // before the rank
	// unfinished is the source that wrote the last line, if that hasn't ended.
	unfinished int
}

// NewRenderer makes a Renderer at the beginning of a line.
func NewRenderer(label bool) *Renderer { return &Renderer{label, "", nobody} }

// Append appends the text of b, which a source wrote, to out.
func (r *Renderer) Append(out []byte, source int, b []byte) []byte {
	if len(b) == 0 {
		return out
	}
	begun := r.unfinished == source
	if !begun && r.unfinished != nobody {
		out = append(out, '\n')
	}
	r.unfinished = source
	if b[len(b)-1] == '\n' {
		r.unfinished = nobody
	}
	if !r.label || source == Launcher {
		return append(out, b...)
	}
	for line := range bytes.Lines(b) {
		if !begun {
			out = fmt.Appendf(out, "[%s%d] ", r.job, source)
		}
		begun = false
		out = append(out, line...)
	}
	return out
}

// Unfinished is the source whose line is unfinished; ok is false if there is none.
func (r *Renderer) Unfinished() (source int, ok bool) { return r.unfinished, r.unfinished != nobody }

// Resume has the Renderer go on behind the unfinished line of a source.
func (r *Renderer) Resume(source int) { r.unfinished = source }
