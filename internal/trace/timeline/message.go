package timeline

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// shape says when the parts of a message begin and end.
type shape struct {
	sendEnd, arrival, receiveBegin proto.Time
}

// shape computes the times that the trace doesn't say.
func (t *Timeline) shape(m *Message) shape {
	s := shape{sendEnd: m.Sent, arrival: m.Ended, receiveBegin: m.Ended}
	if m.Sent != proto.Never {
		s.sendEnd = m.Sent + t.Overhead
	}
	switch {
	case m.Ended == proto.Never:
		if m.Sent != proto.Never {
			s.arrival = s.sendEnd + max(t.Latency, 0)
		}
	case !m.Dropped:
		s.receiveBegin = m.Ended - t.Overhead
		s.arrival = s.receiveBegin
		if m.Sent != proto.Never {
			if t.Latency >= 0 {
				s.arrival = min(s.arrival, s.sendEnd+t.Latency)
			}
			// A trace whose o or L is wrong still makes a picture.
			s.receiveBegin, s.arrival = max(s.receiveBegin, m.Sent), max(s.arrival, m.Sent)
			s.sendEnd = min(s.sendEnd, s.arrival)
		}
	}
	return s
}

// message draws the send above the sender's line, the receive below the receiver's line, and the
// flight between them. Sends and receives have different sides because a process does both at once.
func (d *drawing) message(m *Message) {
	s := d.t.shape(m)
	bar := 0.3 * d.row
	from, to := d.y(m.From)-bar/2-0.02*d.row, d.y(m.To)+bar/2+0.02*d.row
	lost := m.Dropped || m.Ended == proto.Never
	if lost {
		to = d.y(m.To)
	}
	d.printf("<g class=\"%s\"><title>%s</title>", looks[trace.PurposeOf(m.Kind)].css, escape(d.tell(m)))
	if m.Sent != proto.Never && s.arrival <= d.end {
		// The flight begins at the edge of the bar, or the next send would hide its beginning.
		edge := from + bar/2
		if to < from {
			edge = from - bar/2
		}
		d.printf("<path class=\"f\" d=\"M%.1f %.1fL%.1f %.1f\"/>", d.x(s.sendEnd), edge, d.x(s.arrival), to)
	}
	if !lost && s.receiveBegin > s.arrival {
		d.printf("<path class=\"w\" d=\"M%.1f %.1fH%.1f\"/>", d.x(s.arrival), to, d.x(s.receiveBegin))
	}
	if m.Sent != proto.Never {
		d.bar("s", m.Sent, s.sendEnd, from, bar)
	}
	switch {
	case !lost:
		d.bar("r", s.receiveBegin, m.Ended, to, bar)
	case s.arrival <= d.end:
		x, r := d.x(s.arrival), min(4, 0.35*d.row)
		d.printf("<path class=\"x\" d=\"M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f\"/>", x-r, to-r, 2*r, 2*r, -2*r, -2*r, 2*r)
	}
	d.printf("</g>\n")
}

// bar draws a send or a receive, which lasts from one time to another or is a moment.
func (d *drawing) bar(css string, from, to proto.Time, y, height float64) {
	const moment = 3
	x, width := d.x(from), d.x(to)-d.x(from)
	if width < moment {
		x, width = (d.x(from)+d.x(to)-moment)/2, moment
	} else {
		x, width = x+0.5, width-1 // neighbours don't touch
	}
	d.printf("<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", css, x, y-height/2, width, height)
}

// tell says in words what happened to a message.
func (d *drawing) tell(m *Message) string {
	text := fmt.Sprintf("%s, %d → %d", m.Kind, m.From, m.To)
	if m.Sent != proto.Never {
		text += ", sent at " + d.show(m.Sent)
	}
	switch {
	case m.Dropped:
		return text + ", dropped at " + d.show(m.Ended) + " (dead)"
	case m.Ended == proto.Never:
		return text + ", no end in the trace"
	}
	return text + ", received at " + d.show(m.Ended)
}
