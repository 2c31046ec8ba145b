package recovery

import (
	"fmt"
	"slices"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// place is where a process is or was.
type place struct {
	given       proto.Incarnation // the last life that a replacement was started in
	incarnation proto.Incarnation // of the process that has it, or had it last
	vacant      bool              // that one is dead
	failures    int               // replacements in a row, up to now, that were of no use
	healable    bool              // its process has come to a safe point, and can be a donor
	barred      bool              // it could be, and can't for good
	// proven is when its process, if it is a replacement, will have lived for Relapse since all know it.
	proven proto.Time
}

// Board knows the places of one job: who is dead, who can give its state away, and who has failed.
type Board struct {
	layout  layout.Layout
	places  []place
	waiting []proto.Proc      // in the order of the deaths
	from    proto.Incarnation // no life that is given from now on is lower
	over    bool              // nobody needs replacements any more
}

// newBoard makes the board of a job in which all are alive.
func newBoard(layout layout.Layout) Board {
	return Board{layout: layout, places: make([]place, layout.Procs())}
}

// Healable notes that a process has come to a safe point: its rank can be healed from it.
func (b *Board) Healable(p Process) {
	if b.alive(p) {
		b.places[p.Proc].healable = !b.places[p.Proc].barred
	}
}

// lives says whether a process has its place.
func (b *Board) alive(p Process) bool {
	return !b.places[p.Proc].vacant && b.places[p.Proc].incarnation == p.Incarnation
}

// Given is the last life of a place that a replacement was started in, 0 if there was none.
func (b *Board) Given(p proto.Proc) proto.Incarnation { return b.places[p].given }

// From says that somebody else may have given away lives below one, of which nobody here has heard.
func (b *Board) From(incarnation proto.Incarnation) { b.from = incarnation }

// IsOver says whether nobody needs replacements any more.
func (b *Board) IsOver() bool { return b.over }

// Needy is the first place that waits with a donor there, NoProc if none does.
func (b *Board) Needy(donates func(p proto.Proc) bool) proto.Proc {
	for _, slot := range b.waiting {
		if b.donor(b.layout.Rank(slot), donates) != proto.NoProc {
			return slot
		}
	}
	return proto.NoProc
}

// donor is the lowest live replica of a rank whose state can be had, or NoProc.
func (b *Board) donor(rank proto.Rank, donates func(p proto.Proc) bool) proto.Proc {
	for k := range b.layout.Degree(rank) {
		if p := b.layout.Proc(rank, k); b.places[p].healable && donates(p) {
			return p
		}
	}
	return proto.NoProc
}

// begin takes the first place off that can be filled now, nil if none can.
func (b *Board) begin(now proto.Time, fits, donates func(p proto.Proc) bool) *Attempt {
	if b.over {
		return nil
	}
	for i, slot := range b.waiting {
		donor := b.donor(b.layout.Rank(slot), donates)
		if donor == proto.NoProc || !fits(slot) {
			continue
		}
		b.waiting = slices.Delete(b.waiting, i, i+1)
		s := &b.places[slot]
		s.given = max(s.given+1, b.from)
		return &Attempt{Process: Process{slot, s.given}, Donor: Process{donor, b.places[donor].incarnation}, Began: now}
	}
	return nil
}

// fill gives a place to a process.
func (b *Board) fill(p Process, proven proto.Time) {
	s := &b.places[p.Proc]
	*s = place{given: max(s.given, p.Incarnation), incarnation: p.Incarnation, failures: s.failures, proven: proven}
	b.waiting = slices.DeleteFunc(b.waiting, func(q proto.Proc) bool { return q == p.Proc })
}

// vacate takes the death of the process in a place. The note, if there is one, is for the user.
func (b *Board) vacate(now proto.Time, p proto.Proc) (note string) {
	s := &b.places[p]
	s.vacant, s.healable, s.barred = true, false, false
	if s.failures++; now >= s.proven {
		s.failures = 0
	}
	switch {
	case b.over || b.layout.Degree(b.layout.Rank(p)) == 1:
	case s.failures >= MaxFailures:
		return fmt.Sprintf("%s isn't replaced any more: the last %d replacements were of no use", b.name(p), MaxFailures)
	default:
		b.waiting = append(b.waiting, p)
	}
	return ""
}

// failed takes the end of an attempt that was of no use. The note is for the user.
func (b *Board) failed(a *Attempt) (note string) {
	s, d := &b.places[a.Proc], &b.places[a.Donor.Proc]
	switch {
	case a.orphan || a.blame == Nobody:
	case a.blame == Donor:
		d.healable, d.barred = false, true
	default:
		s.failures++
	}
	note = fmt.Sprintf("%s couldn't be replaced: %s", b.name(a.Proc), a.Why)
	switch {
	case b.over || s.given > a.Incarnation: // another has the place
		return note
	case s.failures >= MaxFailures:
		return fmt.Sprintf("%s; after %d attempts it stays dead", note, MaxFailures)
	case d.barred:
		note = fmt.Sprintf("%s; replica %d isn't asked again", note, b.layout.Replica(a.Donor.Proc))
	}
	b.waiting = append(b.waiting, a.Proc)
	return note
}

// end says that the job is about to end. It returns, for the user, which places are left empty.
func (b *Board) end() (notes []string) {
	b.over = true
	for _, slot := range b.waiting {
		why := End
		switch rank := b.layout.Rank(slot); {
		case b.any(rank, func(s *place) bool { return s.healable }):
		case b.any(rank, func(s *place) bool { return s.barred }), !b.any(rank, func(s *place) bool { return !s.vacant }):
			continue // it was said, or that the rank is lost
		default:
			why = "no other has come to a safe point that could be used"
		}
		notes = append(notes, fmt.Sprintf("%s wasn't replaced: %s", b.name(slot), why))
	}
	return notes
}

// any says whether something is so of a place of a rank.
func (b *Board) any(rank proto.Rank, is func(s *place) bool) bool {
	for k := range b.layout.Degree(rank) {
		if is(&b.places[b.layout.Proc(rank, k)]) {
			return true
		}
	}
	return false
}

func (b *Board) name(p proto.Proc) string {
	return fmt.Sprintf("rank %d: replica %d", b.layout.Rank(p), b.layout.Replica(p))
}
