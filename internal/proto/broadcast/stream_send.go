package broadcast

import "banyan/internal/proto"

// task is something that a stream has to send. It is checked again when its turn
// comes, for it may have become pointless.
type task struct {
	kind   taskKind
	number uint64
	to     int // a member; of bypasses and mends a position
	at     int // of the children there: how many have had their turn
}

type taskKind uint8

const (
	relayOn  taskKind = iota // a broadcast along the tree
	bypass                   // along the tree to those below a dead member
	mend                     // the same, when most of them have it already
	reply                    // to a pull
	pull                     // a payload
	question                 // for room; to counts the members
	report                   // the answer to it
)

// uncorrected is a broadcast that was sent along the tree, with corrections due.
type uncorrected struct {
	number uint64
	due    proto.Time
}

// SendReady sends at most one frame. It reports false if there is nothing to
// send now.
func (s *Stream) SendReady(now proto.Time, out *StreamActions) bool {
	before := len(*out)
	for s.tasks.Len() > 0 {
		if s.perform(now, s.tasks.Front(), out) {
			s.tasks.Pop()
		}
		if len(*out) > before {
			return true
		}
	}
	if s.lingering.Len() > 0 {
		s.endWaits(now)
	}
	for s.uncorrected.Len() > 0 && !s.correct(now, s.uncorrected.Front(), out) {
		s.uncorrected.Pop()
	}
	return len(*out) > before
}

// perform sends a frame for a task if need be. It reports whether the task is
// done.
func (s *Stream) perform(now proto.Time, t *task, out *StreamActions) bool {
	switch t.kind {
	case question:
		return s.askNext(t, out)
	case report:
		if !s.members[t.to].gone {
			s.send(t.to, Frame{Kind: FrameReport, Number: s.completed, Root: t.to}, out)
		}
		return true
	}
	sl := s.known(t.number)
	if sl == nil {
		return true
	}
	switch t.kind {
	case relayOn:
		return s.relayNext(now, sl, out)
	case bypass, mend:
		return s.bypassNext(t, sl, out)
	}
	if s.members[t.to].gone {
		return true
	}
	f := Frame{Number: sl.number, Root: sl.root, Payload: s.digestBytes[:]}
	switch {
	case t.kind == pull:
		f.Kind = FramePull
		if sl.state != waiting || sl.target != t.to {
			return true
		}
	case sl.state == arrived:
		f.Kind, f.Payload, f.Shape = FrameCorrection, sl.payload, sl.shape
	case s.canDeny(sl, t.to):
		f.Kind = FrameMissing
	default:
		return true // the asker is yet to hear of another's end, and will ask again
	}
	s.send(t.to, f, out)
	return true
}

// relayNext sends a broadcast that is here to the next child in its tree.
func (s *Stream) relayNext(now proto.Time, sl *slot, out *StreamActions) bool {
	if sl.shape == Named {
		return s.spreadNext(now, sl, out)
	}
	for sl.relay.is(flagSpreading) {
		child, _, ok := s.tree(sl).disseminate(&sl.relay, now)
		if !ok {
			sl.relay.flags &^= flagSpreading
			s.uncorrected.Push(uncorrected{sl.number, now + s.cfg.CorrectAfter})
			break
		}
		to := s.member(sl, child)
		if s.members[to].gone {
			s.tasks.Push(task{kind: bypass, number: sl.number, to: child})
			continue
		}
		if !s.has(sl, to) {
			s.pass(sl, FrameTree, to, out)
			return false
		}
	}
	return true
}

// bypassNext sends a broadcast that is here to the next child of a dead member.
func (s *Stream) bypassNext(t *task, sl *slot, out *StreamActions) bool {
	tree := &s.tree(sl).Tree
	children := tree.Children(t.to)
	for at := 0; ; at++ {
		child, ok := tree.Next(&children)
		switch to := s.member(sl, child); {
		case !ok:
			return true
		case at < t.at:
		case s.members[to].gone:
			t.at++
			s.tasks.Push(task{kind: t.kind, number: t.number, to: child})
			t = s.tasks.Front() // the queue may have moved
		default:
			t.at++
			if s.has(sl, to) {
				continue
			}
			kind := FrameTree
			if t.kind == mend && len(sl.payload) > s.cfg.OfferAbove {
				kind = FrameOffer
			}
			s.pass(sl, kind, to, out)
			return false
		}
	}
}

// correct sends the next correction of a broadcast, if it's due. It reports false if
// there is none, nor will be.
func (s *Stream) correct(now proto.Time, u *uncorrected, out *StreamActions) bool {
	sl := s.known(u.number)
	if sl == nil {
		return false
	}
	if sl.shape == Named {
		return s.correctNamed(now, u, sl, out)
	}
	tree, next := s.tree(sl), sl.relay
	for {
		position, _, ok := tree.correct(&next, now)
		if !ok {
			return false
		}
		to := s.member(sl, position)
		switch {
		case s.members[to].gone || s.has(sl, to):
			sl.relay = next // it needs none
			continue
		case now < u.due:
			return true
		}
		sl.relay = next
		kind := FrameCorrection
		if len(sl.payload) > s.cfg.OfferAbove {
			kind = FrameOffer
		}
		s.pass(sl, kind, to, out)
		return true
	}
}

// has tells whether a member is known to have a broadcast, or an offer of it, or was
// sent either by this one.
func (s *Stream) has(sl *slot, member int) bool {
	return s.members[member].reported >= sl.number || sl.holders.has(member)
}

// pass sends a broadcast that is here, or an offer of it, to a member.
func (s *Stream) pass(sl *slot, kind FrameKind, to int, out *StreamActions) {
	s.passStep(sl, kind, 0, to, out)
}

// passStep is pass for a message of the Named scheme's machine.
func (s *Stream) passStep(sl *slot, kind FrameKind, step Kind, to int, out *StreamActions) {
	f := Frame{Kind: kind, Number: sl.number, Root: sl.root, Shape: sl.shape, Step: step, Payload: sl.payload}
	if kind == FrameOffer {
		f.Payload = nil
	}
	sl.holders.add(to)
	s.send(to, f, out)
}

// mendFor sends what is here to those below a member that is gone now, if no member nearer to them
// in the tree is alive.
func (s *Stream) mendFor(sl *slot, member int) {
	if sl.state != arrived || sl.root == member || s.gossips(sl) {
		return
	}
	tree, self := &s.tree(sl).Tree, s.position(sl, s.cfg.Self)
	position := s.position(sl, member)
	above := tree.Parent(position)
	for above > 0 && s.members[s.member(sl, above)].gone {
		above = tree.Parent(above)
	}
	if above == self {
		s.tasks.Push(task{kind: mend, number: sl.number, to: position})
	}
}

// askNext asks one more member for room.
func (s *Stream) askNext(t *task, out *StreamActions) bool {
	for ; t.to < s.cfg.Size; t.to++ {
		if m := &s.members[t.to]; t.to != s.cfg.Self && !m.gone && m.reported < t.number {
			s.send(t.to, Frame{Kind: FrameReport, Number: t.number, Root: s.cfg.Self}, out)
			t.to++
			return false
		}
	}
	return true
}
