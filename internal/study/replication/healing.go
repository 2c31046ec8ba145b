package replication

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/proto/replica"
)

// The dead are replaced as in real jobs (package process, healing.go), one at a time. When
// Healing.After has passed since a death, a replacement has been started and waits. The launcher
// (launcher.go) asks the lowest live replica of its rank to be the donor: between two steps its
// program pauses, and all processes prepare. Then it sends its state, the replacement joins, and
// when all have welcomed it both programs go on.

// Healing says how the dead are replaced.
type Healing struct {
	// After is the time from a death until a replacement has been started, and has come to the
	// program's first safe point. 0: nobody is replaced.
	After proto.Time
	// State is how many bytes the program's state has that the donor sends.
	State int64
}

// pieceSize is how many bytes of the state one frame carries, as in package process.
const pieceSize = 256 << 10

// healing is a process's part in the replacement of the dead.
type healing struct {
	incarnation proto.Incarnation // of this process
	known       []occupant        // the deaths it has heard of
	donee       occupant          // the replacement that waits for this process's state
	asked       bool              // it does
	begun       proto.Time        // donors: since when the program pauses
	handover    bool              // donors: all have prepared
	donor       proto.Proc        // replacements
}

// occupant is an incarnation of a process of the whole job, dead or to come.
type occupant struct {
	proc        proto.Proc
	incarnation proto.Incarnation
}

// snapshot is what a donor knows at a safe point, beside the program's state.
type snapshot struct {
	machine, clock []byte
	kept           []replica.Message
	arrivals       []arrival
	early          []frame
	step           int
	sends          int64
}

// outside is how many processes aren't of the neighbourhood. They take part in a healing too, and
// it concerns nothing of theirs: they only cost those who talk with them.
func (n *node) outside() proto.Time {
	return proto.Time(n.job.layout.Procs() - len(n.around.ranks)*n.job.settings.Degree)
}

// help has this process be a donor at its next safe point, if there is one.
func (n *node) help(b *body) {
	h := n.heal
	h.donee, h.asked = occupant{proto.Proc(b.id), proto.Incarnation(b.receiver)}, true
	if n.phase == finished {
		n.decline()
	}
}

// decline says that this process can't be the donor: its program is through.
func (n *node) decline() {
	if h := n.heal; h != nil && h.asked {
		h.asked = false
		n.tellLauncher(declined, h.donee)
	}
}

func (n *node) tellLauncher(k kind, about occupant) {
	n.port.Post(n.now+n.job.settings.Costs.Latency, n.job.launcher(), body{kind: k, id: uint32(about.proc), receiver: uint32(about.incarnation)})
}

// donates begins to give this process's state to a replacement that waits. The program is between
// two steps.
func (n *node) donates() bool {
	h := n.heal
	if h == nil || !h.asked || n.underway > 0 {
		return false
	}
	if !n.machine.Donate(n.local(h.donee.proc), h.donee.incarnation, &n.out) {
		n.carryOut()
		return false // at another safe point
	}
	h.asked, h.begun = false, n.now
	n.phase = donating
	n.spend(n.outside() * n.job.settings.Costs.Overhead)
	n.carryOut()
	return true
}

// tell sends a note of package replica's conversation.
func (n *node) tell(a *replica.Action) {
	w := a.NoteOf()
	n.spend(n.job.settings.Costs.Overhead)
	n.put(n.proc(a.To), &n.tally.notes, headerSize, body{
		kind: note, tag: int32(w.Kind), id: uint32(n.proc(w.Replacement)), receiver: uint32(w.Incarnation), seq: w.Covers,
	})
}

// noted takes one.
func (n *node) noted(f *frame) {
	b := &f.Body
	q := proto.Proc(b.id)
	w := replica.Note{Kind: replica.NoteKind(b.tag), Replacement: n.local(q), Incarnation: proto.Incarnation(b.receiver), Covers: b.seq}
	n.machine.Noted(n.local(f.From), w, &n.out)
	if n.machine.AcksOwed() == 0 {
		n.pace.Flushed() // to prepare is to acknowledge first
	}
	n.carryOut()
}

// handOver sends the state to the replacement: all have prepared.
func (n *node) handOver() {
	h, c := n.heal, &n.job.settings.Costs
	h.handover = false
	n.spend(n.outside() * c.Overhead) // their answers
	n.learn()
	s := &snapshot{step: n.step, sends: n.sends, early: slices.Clone(n.early)}
	bytes := n.job.settings.Healing.State
	for m := range n.machine.Kept() { // before replication releases any of it
		s.kept = append(s.kept, *m)
		bytes += int64(m.Total)
	}
	s.machine = n.machine.AppendState(nil, &n.out)
	if n.clock != nil {
		s.clock = n.clock.AppendState(nil)
	}
	n.queues.EachUnexpected(func(token uint32) {
		a := n.arrivals[token]
		if a.offered {
			a.from = proto.NoProc // it is offered again
		} else {
			bytes += int64(a.total)
		}
		s.arrivals = append(s.arrivals, a)
	})
	for i := range s.early {
		if b := &s.early[i].Body; b.kind == offer {
			b.receiver = forgotten
		}
	}
	bytes += int64(len(s.machine) + len(s.clock))
	n.job.hand(h.donee.proc, s)
	n.spend(c.Overhead*pieces(bytes) + c.copying(bytes))
	n.put(h.donee.proc, &n.tally.states, headerSize*int64(pieces(bytes))+bytes, body{
		kind: state, receiver: uint32(h.donee.incarnation), total: uint64(bytes),
	})
	n.phase = given
	n.tellLauncher(handed, h.donee)
	n.carryOut() // what AppendState asked for
}

// forgotten, in an offer that waits for its cause, says that its sender has to offer it again.
const forgotten = 1

// pieces is how many frames carry a state.
func pieces(bytes int64) proto.Time { return proto.Time(max(1, (bytes+pieceSize-1)/pieceSize)) }

// healed ends a donation: all know the replacement.
func (n *node) healed(from proto.Proc) {
	if n.phase == given && n.heal.donee.proc == from {
		n.phase = running
		n.tally.donorPause = max(n.tally.donorPause, n.now-n.heal.begun)
	}
}

// raised has a dead process look at what has come before a time, and says whether it lives again.
func (n *node) raised(end proto.Time) bool {
	if n.heal == nil {
		n.port.Clear()
		return false
	}
	for {
		switch urgent, next := n.port.NextUrgent(), n.port.Next(); {
		case urgent < end:
			n.heal.know(&n.port.TakeUrgent().Body)
		case next < end:
			if f := n.port.Take(); f.Body.kind == state { // all else was for the one before
				n.revive(f)
				return true
			}
		default:
			return false
		}
	}
}

// know notes a death.
func (h *healing) know(b *body) {
	if b.kind != news {
		return
	}
	h.known = append(h.known, occupant{proto.Proc(b.id), proto.Incarnation(b.receiver)})
}

// revive makes a dead process its replacement, which has got its donor's state.
func (n *node) revive(f *frame) {
	h, c := n.heal, &n.job.settings.Costs
	s := n.job.take(n.self)
	bytes := int64(f.Body.total)
	h.donor = f.From
	h.incarnation = proto.Incarnation(f.Body.receiver)
	*n = node{
		job: n.job, port: n.port, self: n.self, rank: n.rank, around: n.around, clock: n.clock, heal: h,
		queues: match.New(), early: s.early, step: s.step, sends: s.sends, random: n.random, tally: n.tally,
		now: max(n.now, f.At), dies: proto.Never, phase: joining, pace: replica.NewAckPace(false),
	}
	n.spend(c.Overhead*pieces(bytes) + c.copying(bytes))
	n.machine = n.newMachine()
	for _, d := range h.known {
		if d.proc != n.self {
			n.machine.Dead(n.local(d.proc), d.incarnation, &n.out)
		}
	}
	n.out = n.out[:0] // it has nothing to send yet
	kept := s.kept
	err := n.machine.Restore(s.machine, func(m replica.Message) *replica.Message {
		own := n.message()
		m.Body = kept[0].Body
		*own, kept = m, kept[1:]
		return own
	}, &n.out)
	if err == nil && n.clock != nil {
		err = n.clock.Restore(s.clock)
	}
	if err != nil {
		panic(fmt.Sprintf("replication: the state of a donor: %v", err))
	}
	for _, a := range s.arrivals {
		token := n.newArrival()
		n.arrivals[token] = a
		n.queues.Keep(match.Envelope{Context: contextOf(a.collective), Src: a.src, Tag: a.tag}, token)
	}
	n.tally.away += n.now - n.tally.diedAt
	n.tally.since = n.now
	n.carryOut()
	n.machine.Commit(&n.out)
	n.carryOut()
	n.spend(2 * n.outside() * c.Overhead) // joined, and welcome
	n.tally.retains(n)
}

// welcomed has the replacement's program go on: all live processes know it.
func (n *node) welcomed() {
	n.spend(n.job.settings.Costs.Overhead)
	n.put(n.heal.donor, &n.tally.notes, headerSize, body{kind: healed})
	n.phase = running
	n.tally.healed++
	n.tellLauncher(joined, occupant{n.self, n.heal.incarnation})
	n.tally.healing = max(n.tally.healing, n.now-n.tally.diedAt)
}

// hand keeps what a donor gives until it has arrived.
func (j *job) hand(to proto.Proc, s *snapshot) {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.snapshots[to] = s
}

func (j *job) take(to proto.Proc) *snapshot {
	j.lock.Lock()
	defer j.lock.Unlock()
	s := j.snapshots[to]
	delete(j.snapshots, to)
	return s
}
