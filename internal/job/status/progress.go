package status

import (
	"cmp"
	"math/bits"

	"banyan/internal/proto"
)

// progress is how far a rank has come.
type progress struct{ passed, expected uint64 } // expected 0: it hasn't said

// compare orders by how far ranks have come: of all that they expect, or those that haven't said by
// the number of safe points, before the others.
func (p progress) compare(q progress) int {
	switch {
	case p.expected == 0 && q.expected == 0:
		return cmp.Compare(p.passed, q.passed)
	case p.expected == 0:
		return -1
	case q.expected == 0:
		return 1
	}
	// p.passed / p.expected against q.passed / q.expected
	ph, pl := bits.Mul64(p.passed, q.expected)
	qh, ql := bits.Mul64(q.passed, p.expected)
	return cmp.Or(cmp.Compare(ph, qh), cmp.Compare(pl, ql))
}

const (
	// paceSpan is the time whose pace counts, and paceMost bounds how many points of it are kept.
	paceSpan = proto.Time(60e9)
	paceMost = 64
)

// pace is how fast the job has come on lately.
type pace struct {
	all []point // by time; at least paceSpan, or since the pace began
}

type point struct {
	at   proto.Time
	done float64 // of 1
}

// note takes how far the job has come.
func (p *pace) note(at proto.Time, passed, expected uint64) {
	if expected == 0 {
		p.all = nil
		return
	}
	now := point{at, min(1, float64(passed)/float64(expected))}
	if k := len(p.all); k > 0 {
		switch last := p.all[k-1]; {
		case now.done < last.done: // it has gone back, or the program has said another number
			p.all = nil
		case at-last.at < paceSpan/paceMost:
			return
		}
	}
	p.all = append(p.all, now)
	for len(p.all) > 2 && at-p.all[1].at >= paceSpan {
		p.all = p.all[1:]
	}
}

// left is how long the rest takes at this pace; 0: unknown.
func (p *pace) left() Seconds {
	if len(p.all) < 2 {
		return 0
	}
	from, to := p.all[0], p.all[len(p.all)-1]
	if to.done <= from.done {
		return 0
	}
	return seconds(proto.Time(float64(to.at-from.at) * (1 - to.done) / (to.done - from.done)))
}
