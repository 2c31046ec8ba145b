package broadcast

import "banyan/internal/proto"

// The broadcasts of a stream that run a named scheme (StreamConfig.Scheme): any tree or gossip, and
// any correction. The members run the scheme's machine (Config, State) as the simulators do, and
// its messages travel in the stream's frames: dissemination as FrameTree, corrections
// Scheme.After later as FrameCorrection or, where the payload is large, FrameOffer. Frame.Step is
// the machine's Kind.
//
// The stream leaves messages out, in a way that no machine can be harmed by:
//
//   - A member that is gone gets none. Along a tree those below it get them instead.
//   - A member that is known to have completed the broadcast gets no correction. To the machine it
//     was sent: what counts there is that the member has the payload.
//   - A member that has the payload, as far as this one knows, gets none of an opportunistic
//     correction. Other corrections tell more than the payload: where their sender is. There
//     it gets one without the payload.
//
// All promises of the stream hold, whatever the scheme. Where deaths break a tree, those below
// get the payload by it or pull it. Gossip may miss a member although all live, so each member that
// waits for a broadcast pulls PullDelay later.

// misses says whether a broadcast may miss a member although no member is dead.
func (s *Stream) misses() bool { return s.trees[Named].Gossip.enabled() }

// gossips says whether a broadcast spreads without a tree.
func (s *Stream) gossips(sl *slot) bool { return sl.shape == Named && s.misses() }

// sensible says whether a frame can be one of the named scheme.
func (s *Stream) sensible(f *Frame) bool {
	if f.Shape != Named || !s.cfg.Scheme.Named() {
		return false
	}
	switch f.Kind {
	case FrameTree:
		if s.misses() {
			return f.Step.Base() == KindGossip
		}
		return f.Step == KindTree || f.Step == 0 // 0: to those below a dead member
	case FrameCorrection, FrameOffer:
		b := f.Step.Base()
		return f.Step == 0 || b == KindLeft || b == KindRight
	}
	return true
}

// step lets the machine have a message, or what the stream sent beside it.
func (s *Stream) step(sl *slot, from int, f *Frame) {
	c := s.tree(sl)
	switch {
	case f.Step != 0:
		c.Receive(&sl.relay, s.position(sl, from), f.Step)
	case f.Kind == FrameTree:
		c.Receive(&sl.relay, s.position(sl, from), KindTree)
	case f.Kind == FrameCorrection:
		// An answer to a pull says nothing of the ring between the two.
		c.colour(&sl.relay, KindLeft)
	}
	switch {
	case sl.state != arrived:
	case sl.relay.is(flagSpreading) && !sl.spreading:
		sl.spreading = true
		s.tasks.Push(task{kind: relayOn, number: sl.number})
	case !sl.queued && !sl.spreading && sl.relay.is(flagParticipant):
		s.uncorrect(sl, 0) // it may have something to say now
	}
}

// uncorrect notes that a broadcast has corrections to send, perhaps, from a time on.
func (s *Stream) uncorrect(sl *slot, due proto.Time) {
	sl.queued = true
	s.uncorrected.Push(uncorrected{sl.number, due})
}

// spreadNext sends a broadcast that is here to the next child in its tree, or to the next member
// that gossip draws. It reports whether there is none left.
func (s *Stream) spreadNext(now proto.Time, sl *slot, out *StreamActions) bool {
	c := s.tree(sl)
	c.Gossip.Seed = sl.number // each broadcast draws anew
	for sl.relay.is(flagSpreading) {
		position, kind, ok := c.disseminate(&sl.relay, now)
		if !ok {
			sl.relay.flags &^= flagSpreading
			break
		}
		switch to := s.member(sl, position); {
		case !s.members[to].gone:
			s.passStep(sl, FrameTree, kind, to, out)
			return false
		case kind == KindTree:
			s.tasks.Push(task{kind: bypass, number: sl.number, to: position})
		}
	}
	sl.spreading = false
	if !sl.queued {
		s.uncorrect(sl, now+s.cfg.Scheme.After)
	}
	return true
}

// correctNamed sends the next correction of a broadcast, if it's due. It reports false if there is
// none now; the machine may have one after a frame, or when it has waited.
func (s *Stream) correctNamed(now proto.Time, u *uncorrected, sl *slot, out *StreamActions) bool {
	if now < u.due {
		return true
	}
	if s.correctOnce(now, sl, out) {
		return true
	}
	sl.queued = false
	if due := s.tree(sl).Deadline(&sl.relay, now); due != proto.Never && !sl.lingers {
		sl.lingers = true
		s.lingering.Push(uncorrected{sl.number, due})
	}
	return false
}

// endWaits has the broadcasts corrected that have waited long enough. All wait for the same time,
// so those that began first end first.
func (s *Stream) endWaits(now proto.Time) {
	for s.lingering.Len() > 0 && s.lingering.Front().due <= now {
		if sl := s.known(s.lingering.Pop().number); sl != nil {
			sl.lingers = false
			if !sl.queued {
				s.uncorrect(sl, now)
			}
		}
	}
}

// correctOnce sends the machine's next correction that any member needs. It reports false if the
// machine has none now.
func (s *Stream) correctOnce(now proto.Time, sl *slot, out *StreamActions) bool {
	c := s.tree(sl)
	for sl.relay.is(flagParticipant) {
		position, step, ok := c.correct(&sl.relay, now)
		if !ok {
			return false
		}
		to := s.member(sl, position)
		kind := FrameCorrection
		if len(sl.payload) > s.cfg.OfferAbove {
			kind = FrameOffer
		}
		switch m := &s.members[to]; {
		case m.gone || m.reported >= sl.number:
			continue
		case !s.has(sl, to):
		case c.Correction.HasDistance():
			continue
		default:
			kind = FrameOffer
		}
		s.passStep(sl, kind, step, to, out)
		return true
	}
	return false
}
