package timeline

import (
	"fmt"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// purposesUsed counts messages by purpose.
func (t *Timeline) purposesUsed() (used [trace.Purposes]int) {
	for i := range t.Messages {
		used[trace.PurposeOf(t.Messages[i].Kind)]++
	}
	return used
}

// colouredBy finds the purpose of the message that coloured each process. That message is one that
// the process received at the very time when it was coloured. The root received none.
func (t *Timeline) colouredBy() []trace.Purpose {
	by := make([]trace.Purpose, t.Header.Procs)
	found := make([]bool, t.Header.Procs)
	for i := range t.Messages {
		m := &t.Messages[i]
		if k := trace.PurposeOf(m.Kind); k != trace.Acknowledgement && !found[m.To] && !m.Dropped && m.Ended == t.Coloured[m.To] && m.Ended != proto.Never {
			by[m.To], found[m.To] = k, true
		}
	}
	return by
}

// legend draws the legend below the heading, and returns how many lines it takes.
func (d *drawing) legend(width float64) (svg string, lines int) {
	var b strings.Builder
	const first = marginEdge + 2*lineHeight
	x, y := float64(marginEdge), float64(first)
	add := func(wide float64, name, format string, args ...any) {
		whole := wide + 6 + float64(len(name))*charWidth + 18
		if x > marginEdge && x+whole > marginLeft+width {
			x, y = marginEdge, y+lineHeight
		}
		fmt.Fprintf(&b, "<g transform=\"translate(%.1f %.1f)\">", x, y)
		fmt.Fprintf(&b, format, args...)
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"4\">%s</text></g>\n", wide+6, name)
		x += whole
	}
	b.WriteString("<g class=\"legend\">\n")
	for k, n := range d.used {
		if n == 0 {
			continue
		}
		add(62, fmt.Sprintf("%s (%d): send, flight, receive", trace.Purpose(k), n),
			`<g class="%s"><path class="f" d="M16 -4L46 4"/><rect class="s" x="0" y="-8" width="16" height="8"/><rect class="r" x="46" y="0" width="16" height="8"/></g>`, looks[k].css)
	}
	waits, drops := false, 0
	for i := range d.t.Messages {
		m := &d.t.Messages[i]
		s := d.t.shape(m)
		waits = waits || m.Ended != proto.Never && s.receiveBegin > s.arrival
		if m.Dropped || m.Ended == proto.Never {
			drops++
		}
	}
	if waits {
		add(22, "waits to be received", `<path d="M0 0H22" fill="none" stroke="#444" stroke-dasharray="1 2"/>`)
	}
	if drops > 0 {
		add(10, fmt.Sprintf("lost (%d)", drops), `<path d="M1 -4l8 8m0 -8l-8 8" fill="none" stroke="#444" stroke-width="1.8"/>`)
	}
	coloured := [trace.Purposes]int{}
	dead := 0
	for p := range d.by {
		if d.t.Coloured[p] != proto.Never {
			coloured[d.by[p]]++
		}
		if d.t.Dead[p] != proto.Never {
			dead++
		}
	}
	for k, n := range coloured {
		if n > 0 {
			add(22, fmt.Sprintf("coloured by %s (%d)", trace.Purpose(k), n), `<rect class="%s p" y="-7" width="22" height="14"/>`, looks[k].css)
		}
	}
	if dead > 0 {
		add(22, fmt.Sprintf("dead (%d)", dead), `<rect fill="url(#hatch)" y="-5" width="22" height="10"/>`)
	}
	b.WriteString("</g>\n")
	return b.String(), 1 + int((y-first)/lineHeight)
}

// mark is a moment of interest.
type mark struct {
	at   proto.Time
	name string
}

// marks finds the marks: the first correction, the last process coloured, the end.
func (t *Timeline) marks() []mark {
	var marks []mark
	correct := proto.Never
	for i := range t.Messages {
		if m := &t.Messages[i]; trace.PurposeOf(m.Kind) == trace.Correction {
			correct = min(correct, m.Sent)
		}
	}
	if correct != proto.Never {
		marks = append(marks, mark{correct, "first correction"})
	}
	last, missing := proto.Never, 0
	for p, at := range t.Coloured {
		switch {
		case at != proto.Never && (last == proto.Never || at > last):
			last = at
		case at == proto.Never && t.Dead[p] == proto.Never:
			missing++
		}
	}
	if last != proto.Never {
		name := "all coloured"
		if missing > 0 {
			name = fmt.Sprintf("last coloured (%d never)", missing)
		}
		marks = append(marks, mark{last, name})
	}
	return append(marks, mark{t.End, "end"})
}

// markY is the height at which the text of the i-th mark stands: each has a line of its own.
func (d *drawing) markY(i int) float64 { return d.bottom() + 44 + float64(i+1)*lineHeight }

// markLines draws a line from each mark's text through the rows.
func (d *drawing) markLines(marks []mark) {
	for i, m := range marks {
		d.printf("<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"/>\n", d.x(m.at), d.top-2, d.markY(i)-fontSize)
	}
}

func (d *drawing) markTexts(marks []mark) {
	d.printf("<g class=\"axis\" text-anchor=\"middle\">\n")
	for i, m := range marks {
		text := m.name + ": " + d.show(m.at)
		half := float64(len(text)) * charWidth / 2
		x := min(max(d.x(m.at), marginEdge+half), marginLeft+d.width+marginRight-marginEdge-half)
		d.printf("<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, d.markY(i), text)
	}
	d.printf("</g>\n")
}
