package recovery

import (
	"fmt"
	"slices"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// slot is the state of one replica slot.
type slot struct {
	last        proto.Incarnation // the highest incarnation that a replacement was started in
	incarnation proto.Incarnation // of the process that fills the slot, or filled it last
	vacant      bool              // that process is dead
	failures    int               // useless replacements in a row, up to now
	canDonate   bool              // its process has come to a safe point, and can be a donor
	barred      bool              // its process can never be a donor
	leaving     bool              // its process is to be replaced while it lives
	retired     bool              // its process was retired: the slot is or will be vacant
	// proven is when its process, if it is a replacement, will have lived for Relapse since all
	// processes know it.
	proven proto.Time
}

// slots says which replica slots of a job are vacant, which process can be a donor, and how often
// replacements have failed.
type slots struct {
	layout  layout.Layout
	table   []slot            // by Proc
	waiting []proto.Proc      // vacant slots, in the order of the deaths
	lowest  proto.Incarnation // every incarnation assigned from now on is at least this
	over    bool              // no slot is filled any more
}

// newSlots makes the slots of a job in which all processes live.
func newSlots(layout layout.Layout) slots {
	return slots{layout: layout, table: make([]slot, layout.Procs())}
}

// Healable notes that a process has come to a safe point: its rank can be healed from it.
func (s *slots) Healable(p Process) {
	if s.alive(p) {
		s.table[p.Proc].canDonate = !s.table[p.Proc].barred
	}
}

// alive says whether a process lives and fills its slot.
func (s *slots) alive(p Process) bool {
	return !s.table[p.Proc].vacant && s.table[p.Proc].incarnation == p.Incarnation
}

// LastIncarnation is the highest incarnation of a slot that a replacement was started in, 0 if none
// was.
func (s *slots) LastIncarnation(p proto.Proc) proto.Incarnation { return s.table[p].last }

// Reserve says that a replacement of a slot may have been started in incarnations up to last.
func (s *slots) Reserve(p proto.Proc, last proto.Incarnation) {
	s.table[p].last = max(s.table[p].last, last)
}

// NumberFrom says that another leader may have assigned incarnations below the given one, unknown
// to this leader.
func (s *slots) NumberFrom(incarnation proto.Incarnation) { s.lowest = incarnation }

// IsOver says whether the job is about to end, so that no slot is filled any more.
func (s *slots) IsOver() bool { return s.over }

// FirstFillable is the first waiting slot whose rank has a donor, NoProc if there is none.
func (s *slots) FirstFillable(donates func(p proto.Proc) bool) proto.Proc {
	for _, p := range s.waiting {
		if s.donor(s.layout.Rank(p), donates) != proto.NoProc {
			return p
		}
	}
	return proto.NoProc
}

// donor is the lowest live replica of a rank that can donate its state, or NoProc.
func (s *slots) donor(rank proto.Rank, donates func(p proto.Proc) bool) proto.Proc {
	for k := range s.layout.Degree(rank) {
		if p := s.layout.Proc(rank, k); s.table[p].canDonate && !s.table[p].retired && donates(p) {
			return p
		}
	}
	return proto.NoProc
}

// begin takes the first slot that can be filled now off the waiting list and makes an attempt for
// it. It returns nil if no slot can be filled. joins says whether another slot of a rank is being
// filled.
func (s *slots) begin(now proto.Time, joins func(rank proto.Rank) bool, fits, donates func(p proto.Proc) bool) *Attempt {
	if s.over {
		return nil
	}
	for i, p := range s.waiting {
		rank := s.layout.Rank(p)
		if joins(rank) {
			continue
		}
		donor := s.donor(rank, donates)
		if donor == proto.NoProc || !fits(p) {
			continue
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
		vacant := &s.table[p]
		vacant.last = max(vacant.last+1, s.lowest)
		return &Attempt{Process: Process{p, vacant.last}, Donor: Process{donor, s.table[donor].incarnation}, Began: now}
	}
	return nil
}

// fill notes that a process fills its slot.
func (s *slots) fill(p Process, proven proto.Time) {
	old := s.table[p.Proc]
	s.table[p.Proc] = slot{last: max(old.last, p.Incarnation), incarnation: p.Incarnation, failures: old.failures, proven: proven}
	s.waiting = slices.DeleteFunc(s.waiting, func(q proto.Proc) bool { return q == p.Proc })
}

// vacate notes the death of the process in a slot. The note, if there is one, is for the user.
func (s *slots) vacate(now proto.Time, p proto.Proc) (note string) {
	left := &s.table[p]
	left.vacant, left.canDonate, left.barred, left.leaving = true, false, false, false
	if !left.retired {
		left.failures++
	}
	if now >= left.proven {
		left.failures = 0
	}
	switch {
	case s.over || s.layout.Degree(s.layout.Rank(p)) == 1:
	case left.failures >= MaxFailures:
		left.retired = false
		return fmt.Sprintf("%s isn't replaced any more: the last %d replacements were of no use", s.name(p), MaxFailures)
	default:
		s.waiting = append(s.waiting, p)
	}
	return ""
}

// failed notes the end of an attempt that failed. The note is for the user.
func (s *slots) failed(a *Attempt) (note string) {
	target, donor := &s.table[a.Proc], &s.table[a.Donor.Proc]
	switch {
	case a.donorDied || a.blame == Nobody:
	case a.blame == Donor:
		donor.canDonate, donor.barred = false, true
	default:
		target.failures++
	}
	note = fmt.Sprintf("%s couldn't be replaced: %s", s.name(a.Proc), a.Why)
	switch {
	case s.over || target.last > a.Incarnation: // another process fills the slot
		return note
	case target.failures >= MaxFailures:
		target.retired = false
		return fmt.Sprintf("%s; after %d attempts it stays dead", note, MaxFailures)
	case donor.barred:
		note = fmt.Sprintf("%s; replica %d isn't asked again", note, s.layout.Replica(a.Donor.Proc))
	}
	s.waiting = append(s.waiting, a.Proc)
	return note
}

// Leave says that a process is to leave its host.
func (s *slots) Leave(p Process) {
	if s.alive(p) {
		s.table[p.Proc].leaving = true
	}
}

// Stay says that a process may stay, unless it was retired already.
func (s *slots) Stay(p Process) {
	if s.alive(p) {
		s.table[p.Proc].leaving = false
	}
}

// GivenUp says whether a slot is vacant and stays so.
func (s *slots) GivenUp(p proto.Proc) bool {
	return s.table[p].vacant && s.table[p].failures >= MaxFailures
}

// Retry has slots waited for again that were given up, and returns them.
func (s *slots) Retry() (again []proto.Proc) {
	for i := range s.table {
		if p := proto.Proc(i); !s.over && s.GivenUp(p) && !slices.Contains(s.waiting, p) {
			s.table[p].failures = 0
			s.waiting, again = append(s.waiting, p), append(again, p)
		}
	}
	return again
}

// Donor is the process from which a replacement would get the state for a slot now, NoProc if there
// is none.
func (s *slots) Donor(of proto.Proc, donates func(p proto.Proc) bool) proto.Proc {
	return s.donor(s.layout.Rank(of), func(p proto.Proc) bool { return p != of && donates(p) })
}

// nextToRetire is the next process to be retired, and the one from which its slot would be filled,
// NoProc if there is none now.
func (s *slots) nextToRetire(fits, donates func(p proto.Proc) bool) (p, donor proto.Proc) {
	if s.over || slices.ContainsFunc(s.table, func(x slot) bool { return x.retired }) {
		return proto.NoProc, proto.NoProc
	}
	for i := range s.table {
		p := proto.Proc(i)
		if !s.table[p].leaving {
			continue
		}
		if donor := s.Donor(p, donates); donor != proto.NoProc && fits(p) {
			return p, donor
		}
	}
	return proto.NoProc, proto.NoProc
}

// end says that the job is about to end. It returns notes for the user on the slots that are left
// vacant.
func (s *slots) end() (notes []string) {
	s.over = true
	for _, p := range s.waiting {
		why := End
		switch rank := s.layout.Rank(p); {
		case s.any(rank, func(x *slot) bool { return x.canDonate }):
		case s.any(rank, func(x *slot) bool { return x.barred }), !s.any(rank, func(x *slot) bool { return !x.vacant }):
			continue // an earlier note told this, or that the rank is lost
		default:
			why = "no other has come to a safe point that could be used"
		}
		notes = append(notes, fmt.Sprintf("%s wasn't replaced: %s", s.name(p), why))
	}
	return notes
}

// any says whether the condition holds for a slot of the rank.
func (s *slots) any(rank proto.Rank, is func(x *slot) bool) bool {
	for k := range s.layout.Degree(rank) {
		if is(&s.table[s.layout.Proc(rank, k)]) {
			return true
		}
	}
	return false
}

func (s *slots) name(p proto.Proc) string {
	return fmt.Sprintf("rank %d: replica %d", s.layout.Rank(p), s.layout.Replica(p))
}
