package output

import (
	"fmt"
	"unicode/utf8"
)

// The beginnings of lines are kept as long as their hashes are, so that the first line that differs
// can be shown: a time that was printed is dismissed at a glance then. After that nothing is kept.
const (
	textKept  = 400  // bytes of a line
	linesKept = 1024 // lines that a replica may lag behind and still be shown
	textShown = 60   // bytes of a line, around the first difference
)

// Difference is the first line that differs.
type Difference struct {
	Line    int // from 1
	Replica int // which wrote other bytes than were shown
	// Shown and Other are the beginnings of the line, nil if they are unknown, or if one of the two
	// ended before it.
	Shown, Other []byte
}

// String says what was shown and what the replica has, around their first difference; "" if one of
// them isn't known.
func (d *Difference) String() string {
	if d.Shown == nil || d.Other == nil {
		return ""
	}
	same := 0
	for same < min(len(d.Shown), len(d.Other)) && d.Shown[same] == d.Other[same] {
		same++
	}
	from := max(0, same-textShown/2)
	for from > 0 && from < same && !utf8.RuneStart(d.Shown[from]) {
		from++
	}
	return fmt.Sprintf("%s was shown, replica %d has %s", part(d.Shown, from), d.Replica, part(d.Other, from))
}

// part is what is shown of a line.
func part(line []byte, from int) string {
	end := min(len(line), from+textShown)
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	text := fmt.Sprintf("%q", line[from:end])
	if from > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}

// begin adds to what is kept of the beginning of a line.
func (m *Merger) begin(text, more []byte) []byte {
	if m.difference != nil || len(m.replicas) == 1 {
		return text
	}
	return append(text, more[:min(len(more), textKept-len(text))]...)
}

// begun is the beginning of a line that ends with rest, to be kept; nil if nothing is kept now.
func (m *Merger) begun(text, rest []byte) []byte {
	if m.difference != nil {
		return nil
	}
	return m.begin(append(make([]byte, 0, min(textKept, len(text)+len(rest))), text...), rest)
}

// textOf is what is kept of a line that was emitted; nil if nothing is.
func (m *Merger) textOf(line int) []byte {
	if k := line - m.firstHash; k >= 0 && k < len(m.texts) {
		return m.texts[k]
	}
	return nil
}

// diverge notes the first difference: a line of a replica's and what was emitted.
func (m *Merger) diverge(line, replica int, shown, other []byte) {
	if m.difference == nil {
		m.difference = &Difference{line + 1, replica, shown, other}
		m.texts = nil
	}
}

// Difference is the first difference, nil if there is none.
func (m *Merger) Difference() *Difference { return m.difference }
