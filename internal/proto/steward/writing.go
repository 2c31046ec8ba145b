package steward

import (
	"slices"

	"banyan/internal/proto"
)

// writing is a steward's side of the ledger in its term: which versions it has sent to the voters,
// and which of them are durable. Version 0 is the ledger with which the term began.
type writing struct {
	term    uint64
	since   proto.Time // when the term was won
	from    Version    // the content with which it began
	latest  uint64
	durable uint64 // meaningful if begun
	begun   bool
	// versions from durable on: the first is that of number durable, or 0 before the term has
	// begun.
	versions []*Ledger
	wrote    []confirmation
	// revoked is the number of the last version that was written with a change of the electorate
	// and taken back with it: such versions are never durable.
	revoked uint64
	// electedIn is the number of the last version whose electorate differs from the one before, and
	// electedAt when that was made.
	electedIn uint64
	electedAt proto.Time

	// review says that something has changed since the electorate was looked at last.
	review bool
	// silent is how many hosts the voters were asked about and aren't judged yet. The electorate
	// doesn't change before, or before electBy.
	silent  int
	electBy proto.Time
	// electFrom is when the electorate may change again after a change that the witness couldn't be
	// told of: by then there is a verdict on the host that is in the way.
	electFrom proto.Time

	draft   *Ledger // what is written next, nil if nothing has changed
	then    []Action
	flushAt proto.Time // Never, unless there is a draft
	waiting []waiting
}

// confirmation is the last version that a voter has written, as far as its steward knows.
type confirmation struct {
	from   Host
	number uint64
}

// waiting is an action that depends on a version.
type waiting struct {
	number uint64
	action Action
}

func newWriting(now proto.Time, term uint64, l *Ledger) *writing {
	return &writing{term: term, since: now, from: l.ID, versions: []*Ledger{l}, flushAt: proto.Never, electBy: proto.Never}
}

// version is the ledger with a number that isn't below the durable one.
func (w *writing) version(number uint64) *Ledger {
	return w.versions[number-w.base()]
}

func (w *writing) base() uint64 { return w.latest - uint64(len(w.versions)-1) }

// now is what the ledger will say if the steward lives.
func (w *writing) now() *Ledger {
	if w.draft != nil {
		return w.draft
	}
	return w.version(w.latest)
}

// change returns a ledger to be changed. It is written at the time at, or before.
func (w *writing) change(at proto.Time) *Ledger {
	if w.draft == nil {
		w.draft = w.version(w.latest).clone()
	}
	w.flushAt, w.review = min(w.flushAt, at), true
	return w.draft
}

// revoke takes a change of the electorate back that isn't durable. That is safe at any time: a
// quorum of a changing electorate has a quorum of the former voters in it, so a party that goes on
// with the change, or has a lease under it, has a voter in common with those that write this.
//
// What has been written with the change isn't durable either. So that a witness isn't told of
// content that only this steward has, the durable content comes first, with the former voters, and
// the rest in a version behind it.
func (w *writing) revoke(at proto.Time) {
	rest := w.now().clone()
	back := w.version(w.durable).clone()
	back.Electorate = Electorate{Since: Version{w.term, w.latest + 1}, Voters: rest.Electorate.Former}
	rest.Electorate = back.Electorate
	w.revoked = w.latest
	w.versions, w.latest, w.electedIn = append(w.versions, back), w.latest+1, w.latest+1
	var then []Action
	for _, x := range w.waiting {
		then = append(then, x.action)
	}
	w.waiting, w.then = nil, append(then, w.then...)
	w.draft, w.flushAt, w.review = rest, at, true
}

// after has an action carried out when all that has been changed so far is durable.
func (w *writing) after(x Action) {
	switch {
	case w.draft != nil:
		w.then = append(w.then, x)
	default:
		w.waiting = append(w.waiting, waiting{w.latest, x})
	}
}

// settled says whether the present electorate is durable and isn't changing: then it may change.
func (w *writing) settled() bool { return w.begun && w.durable >= w.electedIn }

// flush makes a version of the draft.
func (w *writing) flush(now proto.Time) {
	at := Version{w.term, w.latest + 1}
	if w.draft.Electorate.Since == (Version{}) {
		w.draft.Electorate.Since, w.electedIn, w.electedAt = at, at.Number, now
	}
	w.draft.ID, w.draft.Base = at, w.from
	w.versions, w.latest = append(w.versions, w.draft), at.Number
	for _, x := range w.then {
		w.waiting = append(w.waiting, waiting{w.latest, x})
	}
	w.draft, w.then, w.flushAt = nil, nil, proto.Never
}

// votes says whether witnesses vote on a version: on the beginning of a term, and on electorates.
// They keep no ledger, so all else must be written by others.
func (w *writing) votes(number uint64) bool {
	return number == 0 || w.version(number).Electorate.Since == Version{w.term, number}
}

// ballot is the last version on which witnesses vote.
func (w *writing) ballot() uint64 {
	number := w.latest
	for number > w.base() && !w.votes(number) {
		number--
	}
	return number
}

// known says whether a witness may be told of a version: enough of the new voters that keep a
// ledger have it for the change to go on. If that is the steward alone it isn't enough, as long as
// others that aren't lost could go on with the witness: the witness would name what only the dead
// have when the steward dies. So it is with the end of a change, too. A term that begins has no
// choice; what it goes on with was written by a steward before, which most likely has it. What is
// taken back is durable.
func (w *writing) known(number uint64) bool {
	l := w.version(number)
	e := &l.Electorate
	votes := func(v Voter) bool { return v.Witness }
	if !slices.ContainsFunc(e.Voters, votes) && !slices.ContainsFunc(e.Former, votes) {
		return true
	}
	if !e.Changing() && (number == 0 || number == w.revoked+1) {
		return true
	}
	has := 0
	e.each(func(v Voter) {
		if !v.Witness && w.confirmed(v, number) {
			has++
		}
	})
	without := func(v Voter) bool {
		x := w.now().Entry(v.Host)
		return v.Witness || !w.confirmed(v, number) && (x == nil || x.State == Up || x.State == Draining)
	}
	return majority(e.Voters, func(v Voter) bool { return v.Witness || w.confirmed(v, number) }) &&
		(number == 0 || has > 1 || !majority(e.Voters, without) && !majority(e.Former, without))
}

// confirm notes what a voter has written.
func (w *writing) confirm(from Host, number uint64) {
	for i := range w.wrote {
		if c := &w.wrote[i]; c.from == from {
			c.number = max(c.number, number)
			return
		}
	}
	w.wrote = append(w.wrote, confirmation{from, number})
}

func (w *writing) confirmed(v Voter, number uint64) bool {
	for _, c := range w.wrote {
		if c.from == v.Host {
			return c.number >= number
		}
	}
	return false
}

// settle finds the last version that a quorum has written, and says whether it is later than the
// last one that was durable. All earlier versions are durable with it.
func (w *writing) settle() bool {
	for number := w.latest; !w.begun || number > w.durable; number-- {
		witnesses := w.votes(number)
		if (number > w.revoked || number <= w.durable) && w.version(number).Electorate.Quorum(func(v Voter) bool { return w.confirmed(v, number) && (witnesses || !v.Witness) }) {
			w.versions = w.versions[number-w.base():]
			w.durable, w.begun, w.review = number, true, true
			return true
		}
		if number == w.base() {
			break
		}
	}
	return false
}

// due returns the actions that waited for what is durable now.
func (w *writing) due() []Action {
	var due []Action
	n := 0
	for _, x := range w.waiting {
		if x.number <= w.durable {
			due = append(due, x.action)
		} else {
			w.waiting[n] = x
			n++
		}
	}
	w.waiting = w.waiting[:n]
	return due
}
