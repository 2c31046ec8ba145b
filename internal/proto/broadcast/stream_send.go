package broadcast

import "banyan/internal/proto"

// task is something that a stream has to send. It is checked again when its turn
// comes, for it may have become pointless.
type task struct {
	kind   taskKind
	number uint64
	to     int
}

type taskKind uint8

const (
	relayOn  taskKind = iota // a broadcast along tree and ring
	reply                    // to a pull
	pull                     // a payload
	question                 // for room; to counts the members
	report                   // the answer to it
)

// SendReady sends at most one frame. It reports false if there is nothing to
// send.
func (s *Stream) SendReady(now proto.Time, out *StreamActions) bool {
	before := len(*out)
	for s.tasks.len() > 0 {
		if s.perform(now, s.tasks.front(), out) {
			s.tasks.pop()
		}
		if len(*out) > before {
			return true
		}
	}
	return false
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
	if t.kind == relayOn {
		return s.relayNext(now, sl, out)
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
		f.Kind, f.Payload = FrameCorrection, sl.payload
	case s.canDeny(sl, t.to):
		f.Kind = FrameMissing
	default:
		return true // the asker is yet to hear of another's end, and will ask again
	}
	s.send(t.to, f, out)
	return true
}

// relayNext sends a broadcast that is here to the next member that may need it.
func (s *Stream) relayNext(now proto.Time, sl *slot, out *StreamActions) bool {
	self := s.position(sl, s.cfg.Self)
	for {
		position, kind, ok := s.tree.SendReady(&sl.relay, now)
		if !ok {
			return true
		}
		to := (position + sl.root) % s.cfg.Size
		if s.members[to].gone {
			continue
		}
		f := Frame{Kind: FrameTree, Number: sl.number, Root: sl.root, Payload: sl.payload}
		if kind != KindTree {
			if s.tree.Tree.Parent(position) == self || s.tree.Tree.Parent(self) == position {
				continue // a tree message went between the two, or will
			}
			f.Kind = FrameCorrection
			if len(sl.payload) > s.cfg.OfferAbove {
				f.Kind, f.Payload = FrameOffer, nil
			}
		}
		s.send(to, f, out)
		return false
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
