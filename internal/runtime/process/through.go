package process

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// A program may wait for a message from a rank whose program has come to its end without sending
// it: by mistake, or since replicas have diverged and the other ones have died. Nothing would ever
// end such a wait, since the rank lives until all have finished. So a process whose program has
// waited for long asks a live replica of the rank (KindAsk). That one answers (KindThrough) when
// its program is through and it keeps no message for the process that asks. By then all that its
// rank ever sends there has arrived (replica.Machine.Keeps); so a receive that names the rank, and
// that nothing which is here has matched, is forlorn. Without replicas the order of the channel
// alone says so. A broadcast is forlorn when its root is through and hasn't begun it.
//
// A receive that is forlorn isn't an error yet: the program may cancel it, or wait for any of
// several receives. A wait is an error (GiveUp) if it would go on for ever although all other
// operations ended. Collectives can't be cancelled, so their receives end at once.
//
// A receive from any source is forlorn when all other members of its communicator are through, and
// no other thread of the program can send to this rank itself (Alone).
//
// An agreement ends nevertheless: a member that is through says so there (promptAgreements).
//
// Nothing of this is on the path of a message: the engine asks to Watch when the program has waited
// for some milliseconds, and a rank is asked once, after a second or two.
//
// Limits: a program that tests in a loop instead of waiting isn't told. A message that came before
// its cause (early.go), whose cause a diverged replica never makes, keeps its receive from counting
// as forlorn.

// askAfter is for how long a receive waits, at least, before its source is asked.
const askAfter = proto.Time(1e9)

// through is what a process knows of ranks that are through, and owes to those that ask.
type through struct {
	next   proto.Time // when to look at the waits; Never: nobody waits, and no answer is owed
	asked  []asked    // by rank: which replica was asked; nil before the first
	over   []bool     // by rank: it sends nothing more; nil before the first
	asks   []ask      // questions that haven't been answered
	probes []probe    // what threads of the program probe for
	giving bool       // GiveUp asks whether a probe is forlorn
	alone  bool       // the program has one thread that communicates
}

// asked is the incarnation of a process that was asked.
type asked struct {
	proc        proto.Proc
	incarnation proto.Incarnation
}

// ask is a question of another process: for a rank's end, or for that of a broadcast's root.
type ask struct {
	from proto.Proc
	wire.Ask
}

// probe is what a thread of the program waits for in a probe.
type probe struct {
	context uint64
	src     proto.Rank
	tag     int32
	aged    bool
}

// ErrFinished is wrapped by each FinishedError.
var ErrFinished = errors.New("the rank that is waited for has finished")

// FinishedError says that a wait can't end: what it waits for was never sent, and its source has
// finished.
type FinishedError struct {
	Rank       proto.Rank // in the world; AnyRank: all that might send it
	Replicated bool       // the replicas may have diverged
	Where      string     // where in the program the call is; "" if unknown
}

// Unwrap makes errors.Is(err, ErrFinished) true.
func (e *FinishedError) Unwrap() error { return ErrFinished }

func (e *FinishedError) Error() string {
	text := fmt.Sprintf("%v has finished and sends nothing more, so what this call waits for never comes", e.Rank)
	if e.Rank == proto.AnyRank {
		text = "all other ranks have finished and send nothing more, so what this call waits for never comes"
	}
	text += calledAt(e.Where)
	if e.Replicated {
		text += ": replicas have sent different messages, which replication doesn't allow (send-determinism; \"banyan check\" finds the first call that differs), or no rank ever sends it"
	}
	return text
}

// Watch says that the program waits, and has for a moment.
func (p *Process) Watch() {
	if p.through.next == proto.Never {
		p.through.next = p.now + p.cfg.patience()
	}
}

// patience is askAfter, but in tests.
func (c *Config) patience() proto.Time {
	if c.askAfter != 0 {
		return c.askAfter
	}
	return askAfter
}

// Alone says that one thread of the program communicates: while it waits no other sends.
func (p *Process) Alone() { p.through.alone = true }

// NoMessage is the tag of a probe that isn't for a message, but for a rank in a call through common
// memory. The engine tells of such waits.
const NoMessage int32 = math.MinInt32

// StartProbe notes what a thread probes for until EndProbe.
func (p *Process) StartProbe(context uint64, src proto.Rank, tag int32) {
	p.through.probes = append(p.through.probes, probe{context, src, tag, false})
}

// EndProbe says that a thread doesn't probe any more.
func (p *Process) EndProbe(context uint64, src proto.Rank, tag int32) {
	all := &p.through.probes
	for i, what := range *all {
		if what.context == context && what.src == src && what.tag == tag {
			*all = slices.Delete(*all, i, i+1)
			return
		}
	}
}

// waitsForOthers tells whether this process takes part as others do: a replacement has yet to
// become a replica, and a program that is through waits for no message.
func (p *Process) waitsForOthers() bool {
	j := p.healing.joining
	return p.healing.replay == nil && (j == nil || j.committed) && !p.lifecycle.finishing
}

// lookAtWaits asks about the waits that were there the last time, too.
func (p *Process) lookAtWaits() {
	t := &p.through
	t.next = proto.Never
	p.answerAsks()
	if !p.waitsForOthers() {
		return
	}
	waits := false
	p.requests.each(func(_ Handle, r *request) {
		switch {
		case r.done || r.kind == composite || r.kind == receiving && (r.arrival != Handle{} || r.peer == p.rank):
			return
		case !r.aged:
			r.aged = true
		case r.kind == sending || r.kind == retracting: // claimThinned
		case r.kind == receiving:
			p.askAbout(r.context, r.peer)
		case !r.asked:
			p.askRoot(r)
		}
		waits = true
	})
	for i := range t.probes {
		what := &t.probes[i]
		if waits = true; what.aged {
			p.askAbout(what.context, what.src)
		}
		what.aged = true
	}
	p.endForlorn()
	p.endUnfollowed()
	p.claimThinned()
	if waits = p.promptAgreements() || waits; waits {
		t.next = p.now + p.cfg.patience()
	}
}

// askAbout asks a replica of a source. Of any source, one member after another is asked.
func (p *Process) askAbout(context uint64, src proto.Rank) {
	t := &p.through
	if src == proto.AnyRank {
		c := p.contexts.find(context)
		if c == nil || !t.alone {
			return
		}
		i := slices.IndexFunc(c.senders(), func(m proto.Rank) bool { return m != p.rank && !p.over(m) })
		if i < 0 {
			return
		}
		src = c.senders()[i]
	}
	q := p.replica.Source(src)
	if q == proto.NoProc || p.over(src) {
		return
	}
	if t.asked == nil {
		t.asked = slices.Repeat([]asked{{proc: proto.NoProc}}, p.cfg.Layout.Ranks())
	}
	if whom := (asked{q, p.peers[q].incarnation}); t.asked[src] != whom {
		t.asked[src] = whom
		wire.Ask{}.Put(&p.header)
		p.send(q, &p.header, nil, 0)
	}
}

// askRoot asks the root of a broadcast whether it has begun it.
func (p *Process) askRoot(r *request) {
	c := p.contexts.find(r.context)
	if c == nil || r.number == 0 || r.coloured || int(r.peer) == c.self {
		return
	}
	r.asked = true
	wire.Ask{Context: r.context, Number: r.number}.Put(&p.header)
	p.send(p.cfg.Layout.Proc(c.members[r.peer], 0), &p.header, nil, 0)
}

// over tells whether all that a rank ever sends to this one is here, and it is through.
func (p *Process) over(r proto.Rank) bool { return p.through.over != nil && p.through.over[r] }

// askArrived takes a question of another process.
func (p *Process) askArrived(from proto.Proc, h *wire.Header) {
	if a := (ask{from, h.Ask()}); !slices.Contains(p.through.asks, a) {
		p.through.asks = append(p.through.asks, a)
	}
	p.answerAsks()
}

// answerAsks answers the questions that can be answered.
func (p *Process) answerAsks() {
	t := &p.through
	if j := p.healing.joining; !p.lifecycle.finishing || len(t.asks) == 0 || p.healing.replay != nil || j != nil && !j.committed || p.condemned() {
		return
	}
	t.asks = slices.DeleteFunc(t.asks, func(a ask) bool {
		if !p.throughFor(a) {
			return false
		}
		a.Answer().Put(&p.header)
		p.send(a.from, &p.header, nil, 0)
		return true
	})
	if len(t.asks) > 0 {
		p.Watch()
	}
}

// throughFor tells whether this process, which is through, has nothing more for one that asks.
func (p *Process) throughFor(a ask) bool {
	if a.Number != 0 {
		c := p.contexts.find(a.Context)
		return c == nil || c.stream == nil || c.stream.Started() < a.Number
	}
	return p.replica.Alive(a.from) && !p.replica.Keeps(a.from) && p.sentAll()
}

// throughArrived takes an answer.
func (p *Process) throughArrived(from proto.Proc, h *wire.Header) {
	if !p.waitsForOthers() {
		return
	}
	t, a := &p.through, h.Ask()
	if a.Number != 0 {
		p.endBroadcast(from, a)
		return
	}
	if t.over == nil {
		t.over = make([]bool, p.cfg.Layout.Ranks())
	}
	t.over[p.cfg.Layout.Rank(from)] = true
	p.noteThrough(p.cfg.Layout.Rank(from))
	p.Changes++
	p.endForlorn()
	if t.next != proto.Never {
		t.next = p.now // of any source, the next is asked
	}
}

// endBroadcast ends a broadcast that its root never begins. The members are out of step then.
func (p *Process) endBroadcast(root proto.Proc, a wire.Ask) {
	c := p.contexts.find(a.Context)
	if c == nil {
		return
	}
	for _, h := range c.waiting {
		if r := p.requests.get(h); r != nil && !r.done && !r.coloured && r.number == a.Number && p.cfg.Layout.Proc(c.members[r.peer], 0) == root {
			c.broken = true
			p.complete(h, r, p.finishedError(p.cfg.Layout.Rank(root)))
		}
	}
	p.runStream(c)
}

func (p *Process) finishedError(src proto.Rank) error {
	return &FinishedError{Rank: src, Replicated: p.replicated}
}

// forlorn tells whether no message that hasn't been matched can come any more.
func (p *Process) forlorn(context uint64, src proto.Rank) bool {
	switch c := p.contexts.find(context); {
	case src != proto.AnyRank:
		if !p.over(src) {
			return false
		}
	case c == nil || !p.through.alone || slices.ContainsFunc(c.senders(), func(m proto.Rank) bool { return m != p.rank && !p.over(m) }):
		return false
	}
	held := func(m early) bool {
		return m.header.Context == context && (src == proto.AnyRank || m.header.Src == src)
	}
	return !slices.ContainsFunc(p.receives.early, held) && (p.perturb == nil || !slices.ContainsFunc(p.perturb.late, held))
}

// isForlorn is forlorn for a request.
func (p *Process) isForlorn(r *request) bool {
	return !r.done && r.kind == receiving && r.arrival == Handle{} && !r.held && p.forlorn(r.context, r.peer)
}

// endForlorn ends the forlorn receives of collectives. Contexts with odd numbers are those of
// collectives.
func (p *Process) endForlorn() {
	if p.through.over == nil {
		return
	}
	p.requests.each(func(h Handle, r *request) {
		if r.context%2 == 1 && p.isForlorn(r) {
			p.fail(h, r, p.finishedError(r.peer))
		}
	})
}

// Forlorn tells whether a wait of the program may be forlorn: GiveUp finds out.
func (p *Process) Forlorn() bool { return p.through.over != nil }

// GiveUp looks whether a wait of the program goes on for ever. met says whether the wait is over.
// It asks Done or Probe, and nothing else of this process. If one of the wait's receives keeps it
// from ending, that receive ends with a FinishedError. If a probe does, met has been told the
// error, and GiveUp returns true.
func (p *Process) GiveUp(met func() bool) bool {
	if !p.waitsForOthers() {
		return false
	}
	p.through.giving = true
	probed := met()
	p.through.giving = false
	if probed {
		return true
	}
	var culprits []Handle
	var others []*request
	p.requests.each(func(h Handle, r *request) {
		switch {
		case r.done:
		case p.isForlorn(r):
			culprits = append(culprits, h)
		default:
			others = append(others, r)
		}
	})
	if len(culprits) == 0 {
		return false
	}
	assume := func(done bool) {
		for _, r := range others {
			r.done = done
		}
	}
	assume(true)
	if met() {
		culprits = nil // something else may end the wait
	}
	guilty := Handle{}
	for _, h := range culprits {
		r := p.requests.get(h)
		others, r.done = append(others, r), true
		if met() {
			guilty = h
			break
		}
	}
	assume(false)
	if r := p.requests.get(guilty); r != nil {
		p.fail(guilty, r, p.finishedError(r.peer))
	}
	return false
}
