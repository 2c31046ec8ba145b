package steward

import (
	"slices"

	"banyan/internal/proto"
)

// lease is what an agent knows of its own lease. A lease runs from when it was asked for, once a
// quorum of the voters has answered that question.
type lease struct {
	held      bool
	until     proto.Time // if it is held
	lostAt    proto.Time // if it isn't
	number    uint64     // of the last question
	questions []question // those that may still give a lease
}

// question is one that was put to all voters at the same time.
type question struct {
	number     uint64
	asked      proto.Time
	electorate *Electorate
	about      []subject
	answers    []answer
}

// subject is an agent about which the voters were asked.
type subject struct {
	host        Host
	incarnation proto.Incarnation
}

type answer struct {
	from       Host
	withheld   bool       // it gives no lease
	took       proto.Time // until it came
	ages       []proto.Time
	stewardAge proto.Time
}

// ask begins a question. Those too old to give a lease are forgotten.
func (l *lease) ask(now, span proto.Time, e *Electorate, about []subject) *question {
	l.questions = slices.DeleteFunc(l.questions, func(q question) bool { return q.asked+span <= now })
	l.number++
	l.questions = append(l.questions, question{number: l.number, asked: now, electorate: e, about: about})
	return &l.questions[len(l.questions)-1]
}

// answered notes a voter's answer, and returns its question: nil if that is too old, or if the
// voter has answered it before.
func (l *lease) answered(now proto.Time, m *Message) *question {
	i := slices.IndexFunc(l.questions, func(q question) bool { return q.number == m.Number })
	if i < 0 {
		return nil
	}
	q := &l.questions[i]
	if q.answer(m.From) != nil || len(m.Ages) != len(q.about) {
		return nil
	}
	q.answers = append(q.answers, answer{m.From, m.Withheld, now - q.asked, m.Ages, m.StewardAge})
	return q
}

func (q *question) answer(from Host) *answer {
	for i := range q.answers {
		if q.answers[i].from == from {
			return &q.answers[i]
		}
	}
	return nil
}

// forget drops a host from what was asked: the answers are about a time before it joined.
func (q *question) forget(h Host) {
	q.about = slices.Clone(q.about)
	for i := range q.about {
		if q.about[i].host == h {
			q.about[i].host = NoHost
		}
	}
}

// granted says whether a quorum has granted a lease.
func (q *question) granted() bool { return q.agreed(func(a *answer) bool { return !a.withheld }) }

// needless says whether a quorum without witnesses has granted a lease: as long as that is so, none
// of them has to be asked.
func (q *question) needless() bool {
	return q.electorate.Quorum(func(v Voter) bool {
		a := q.answer(v.Host)
		return !v.Witness && a != nil && !a.withheld
	})
}

// agreed says whether a quorum gave answers that count.
func (q *question) agreed(counts func(a *answer) bool) bool {
	return q.electorate.Quorum(func(v Voter) bool {
		a := q.answer(v.Host)
		return a != nil && counts(a)
	})
}

// quiet says whether a quorum has granted subject i nothing in the span of time before the
// question. Each voter answers a little after the question. So that the voters speak of one span
// of time, what an answer took is taken off, and late answers don't count.
func (q *question) quiet(i int, span, late proto.Time) bool {
	return q.agreed(func(a *answer) bool { return a.took <= late && a.ages[i]-a.took >= span })
}

// leaderless says whether a quorum hasn't heard for so long that the steward acts.
func (q *question) leaderless(span proto.Time) bool {
	return q.agreed(func(a *answer) bool { return a.stewardAge-a.took >= span })
}

// needless says whether the last question was answered without need of a witness.
func (l *lease) needless() bool {
	return len(l.questions) > 0 && l.questions[len(l.questions)-1].needless()
}

// renewed takes the lease that a question gives, and says whether it is longer than before.
func (l *lease) renewed(q *question, span proto.Time) bool {
	if !q.granted() || l.held && q.asked+span <= l.until {
		return false
	}
	l.held, l.until = true, q.asked+span
	return true
}

// lost ends the lease. What was asked before can't give another one.
func (l *lease) lost(now proto.Time) {
	l.held, l.lostAt, l.questions = false, now, nil
}
