package process

import (
	"errors"
	"fmt"
)

// In leader order timing decides things before the first safe point, too. A process that starts in
// main while its rank is further on must do there what was done before: a replacement of a dead
// replica what its donor did, and a process that is to load a snapshot what was done before that
// was taken. So each process keeps what its program was told up to its first safe point. That is a
// prefix of the rank's log of decisions, as this program has carried it out.

// errRepeats is why a snapshot can't be loaded.
var errRepeats = errors.New("up to its first safe point the program doesn't do what it did before the snapshot was taken: it hasn't asked all that it asked then")

// prefix is what the program of a led process was told up to its first safe point.
type prefix struct {
	kept    bool // somebody may need it
	noted   decisions
	over    bool   // it has more bytes than LogLimit: it is useless
	passive bool   // others have accessed this rank's memory, which isn't noted: it is useless
	ended   bool   // the program has come to its first safe point
	record  []byte // all, from then on
}

// notes is where the next decision is noted, which is a thread's; nil: it isn't.
func (p *Process) notes(t *ledThread) *decisions {
	x := &p.order.prefix
	if !x.kept || x.ended || x.over || p.healing.replay != nil {
		return nil
	}
	if x.noted.size() > LogLimit {
		x.over, x.noted = true, decisions{}
		return nil
	}
	x.noted.on(t.id)
	return &x.noted
}

// noteAnswer notes what the program was told.
func (p *Process) noteAnswer(q Question, word uint64) {
	if d := p.notes(p.order.at); d != nil {
		d.answer(q, word)
	}
}

// noteMatch notes what a receive of a thread takes.
func (p *Process) noteMatch(t *ledThread, number uint64, m matched) {
	if d := p.notes(t); d != nil {
		d.match(number, m)
	}
}

// noteTurn notes that the present thread acts.
func (p *Process) noteTurn(context uint64) {
	if d := p.notes(p.order.at); d != nil {
		d.turn(context)
	}
}

// end ends the prefix, at the first safe point.
func (x *prefix) end() {
	if x.ended || x.over {
		return
	}
	x.ended, x.record, x.noted = true, x.noted.take(), decisions{}
	if len(x.record) > LogLimit {
		x.over, x.record = true, nil
	}
}

// is sets the prefix of a replacement to its donor's.
func (x *prefix) is(record []byte) { x.ended, x.record = true, record }

// EndPrefix says that the program has come to its first safe point.
func (p *Process) EndPrefix() {
	if p.order != nil {
		p.order.prefix.end()
	}
}

// Prefix is what the program was told up to its first safe point, in leader order. The error says
// why that isn't known.
func (p *Process) Prefix() ([]byte, error) {
	switch {
	case p.order == nil:
		return nil, nil
	case p.order.prefix.over:
		return nil, fmt.Errorf("more than %d MiB was decided before its first safe point", LogLimit>>20)
	case p.order.prefix.passive:
		return nil, errPassive
	}
	return p.order.prefix.record, nil
}

// Repeats tells whether this process is to do what was done before the snapshot was taken that it
// loads: timing has decided something, and a leader of each rank noted it. A rank without replicas
// has no leader. What it does may be something else, for which others would wait in vain.
func (p *Process) Repeats() bool { return p.order != nil && p.cfg.Layout.AllReplicated() }

// Repeat has the program be told up to its first safe point what it was told before the snapshot
// was taken. It is called before the program begins, at all replicas of the rank: none of them
// decides that again.
func (p *Process) Repeat(prefix []byte) {
	p.learn(prefix)
	p.Changes++
}

// Repeated says why the program hasn't come to its first safe point as it did before.
func (p *Process) Repeated() error {
	if p.order != nil && !p.order.spent() {
		return errRepeats
	}
	return nil
}
