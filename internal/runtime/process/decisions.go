package process

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/passive"
	"banyan/internal/varint"
)

// Question is what a call asks of timing, in leader order.
type Question uint8

// Questions, and what their answers say.
const (
	AskEnded  Question = iota + 1 // which requests have ended; 0: none of those asked for
	AskProbe                      // which message is here (FoundMessage); 0: none
	AskTime                       // a time
	AskCancel                     // whether a receive is cancelled
	AskValue                      // a value that the program computes

	theEnd // there are no questions any more
)

func (q Question) String() string {
	switch q {
	case AskEnded:
		return "asks which requests have ended"
	case AskProbe:
		return "probes for a message"
	case AskTime:
		return "asks for the time"
	case AskCancel:
		return "cancels a receive"
	case AskValue:
		return "asks what a value is"
	}
	return fmt.Sprintf("asks question %d", uint8(q))
}

// matched says what message a receive takes: the next of its source with the tag.
type matched struct {
	src proto.Rank
	tag int32
}

// FoundMessage is the answer to AskProbe: a message of a source, with a tag.
func FoundMessage(src proto.Rank, tag int32) uint64 {
	return 1<<63 | uint64(uint32(src))<<31 | uint64(uint32(tag))&(1<<31-1)
}

// MessageFound reads what FoundMessage wrote.
func MessageFound(word uint64) (src proto.Rank, tag int32) {
	return proto.Rank(word << 1 >> 32), int32(word & (1<<31 - 1))
}

// decisionsLimit is how many bytes of decisions wait at most until siblings are told.
const decisionsLimit = 4 << 10

// The codes of decisions. A Question is the code of its answer, which follows.
const (
	codeMatch   = 0      // number, source and tag follow
	codeThread  = 7      // what follows is of the thread with the ThreadID that follows; first of the first one
	codeTurns   = 8      // the context follows on which the thread acts next, and how often
	codeStep    = 9      // a context, a step at a part of a window, and how often follow (passive.go)
	codeNothing = 1 << 4 // and a Question: how many answers in a row were 0 follows
)

// decisions are collected by a leader.
type decisions struct {
	bytes   []byte
	nothing uint64 // the last answers were 0, so many
	asked   Question
	acts    uint64 // the last decisions were turns, so many
	context uint64 // of these
	thread  ThreadID
}

func (d *decisions) empty() bool { return len(d.bytes) == 0 && d.nothing == 0 && d.acts == 0 }
func (d *decisions) size() int   { return len(d.bytes) }

// answer adds an answer.
func (d *decisions) answer(q Question, word uint64) {
	if word == 0 {
		d.noneOf(q, 1)
		return
	}
	d.endRuns()
	d.bytes = varint.Append(d.bytes, uint64(q), word)
}

// on says of which thread the next decisions are.
func (d *decisions) on(t ThreadID) {
	if t != d.thread {
		d.endRuns()
		d.bytes = varint.Append(d.bytes, codeThread, uint64(t))
		d.thread = t
	}
}

// turn adds that the thread acts on a context.
func (d *decisions) turn(context uint64) { d.turns(context, 1) }

// turns adds that it does so many times.
func (d *decisions) turns(context, times uint64) {
	if d.acts == 0 || context != d.context {
		d.endRuns()
	}
	d.context = context
	d.acts += times
}

// noneOf adds so many answers that are 0.
func (d *decisions) noneOf(q Question, times uint64) {
	if q != d.asked || d.acts > 0 {
		d.endRuns()
	}
	d.asked = q
	d.nothing += times
}

func (d *decisions) endRuns() {
	if d.nothing > 0 {
		d.bytes = varint.Append(d.bytes, codeNothing|uint64(d.asked), d.nothing)
		d.nothing = 0
	}
	if d.acts > 0 {
		d.bytes = varint.Append(d.bytes, codeTurns, d.context, d.acts)
		d.acts = 0
	}
}

// match adds what message a receive takes.
func (d *decisions) match(number uint64, m matched) {
	d.bytes = varint.Append(d.bytes, codeMatch, number, uint64(uint32(m.src)), uint64(uint32(m.tag)))
}

// step adds a step at a part of a window, so many times.
func (d *decisions) step(context uint64, s passive.Step, times uint64) {
	d.bytes = varint.Append(d.bytes, codeStep, context, stepCode(s), times)
}

// end adds that there are no questions any more.
func (d *decisions) end() {
	d.endRuns()
	d.bytes = varint.Append(d.bytes, uint64(theEnd))
}

// take gives all and begins anew.
func (d *decisions) take() []byte {
	d.endRuns()
	record := append([]byte(nil), d.bytes...)
	d.bytes, d.thread = d.bytes[:0], 0
	return record
}

// listener hears decisions.
type listener interface {
	hearThread(t ThreadID) // what follows is of this thread
	hearAnswer(q Question, word, times uint64)
	hearMatch(number uint64, m matched)
	hearTurns(context, times uint64)
	hearStep(context uint64, s passive.Step, times uint64)
	hearEnd()
}

// readDecisions reads a record. It ends at what decisions can't have written.
func readDecisions(record []byte, l listener) {
	r := varint.Read(record)
	l.hearThread(0)
	for !r.Done() && !r.Failed() {
		switch code := r.Uint(); {
		case code == codeMatch:
			number, src, tag := r.Uint(), r.Uint(), r.Uint()
			if !r.Failed() {
				l.hearMatch(number, matched{proto.Rank(int32(src)), int32(uint32(tag))})
			}
		case code == codeThread:
			if t := r.Uint(); !r.Failed() {
				l.hearThread(ThreadID(t))
			}
		case code == codeTurns:
			if context, n := r.Uint(), r.Uint(); !r.Failed() && n > 0 {
				l.hearTurns(context, n)
			}
		case code == codeStep:
			if context, s, n := r.Uint(), r.Uint(), r.Uint(); !r.Failed() && n > 0 {
				l.hearStep(context, stepOf(s), n)
			}
		case code == uint64(theEnd):
			l.hearEnd()
		case code < uint64(theEnd):
			if word := r.Uint(); !r.Failed() {
				l.hearAnswer(Question(code), word, 1)
			}
		case code > codeNothing && code < codeNothing|uint64(theEnd):
			if n := r.Uint(); !r.Failed() && n > 0 {
				l.hearAnswer(Question(code&^codeNothing), 0, n)
			}
		default:
			r.Fail()
		}
	}
}

// answers are those that a program gets which follows a leader.
type answers struct {
	lines []line
	begin int // the lines before are over
}

// line is an answer that is given so many times.
type line struct {
	asked Question
	word  uint64
	times uint64
}

func (s *answers) empty() bool { return s.begin == len(s.lines) }

// atEnd says that nothing follows but the end.
func (s *answers) atEnd() bool { return s.empty() || s.lines[s.begin].asked == theEnd }

func (s *answers) add(q Question, word, times uint64) {
	if s.begin > 0 && s.begin >= len(s.lines)/2 {
		s.lines = s.lines[:copy(s.lines, s.lines[s.begin:])]
		s.begin = 0
	}
	if n := len(s.lines); word == 0 && n > s.begin && s.lines[n-1].asked == q && s.lines[n-1].word == 0 {
		s.lines[n-1].times += times
		return
	}
	s.lines = append(s.lines, line{q, word, times})
}

// next takes the next answer if the question fits. If it doesn't, the question that was asked is
// told, and stays.
func (s *answers) next(q Question) (asked Question, word uint64) {
	l := &s.lines[s.begin]
	if l.asked != q {
		return l.asked, 0
	}
	if l.times--; l.times == 0 {
		s.begin++
	}
	return q, l.word
}
