package replica

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// reaction is what a process does with an event. It depends only on the process and the event,
// so a memo can keep it.
type reaction struct {
	*rules
	at        proto.Proc
	n         *node
	sends     []sending
	abandoned proto.Proc // the joiner that a donor abandons, or NoProc
	healed    bool       // all processes know of a replacement
	died      bool       // a joiner dies, because its donor has died
	goesOn    *progress  // set when a send that may have been throttled is complete
}

// progress is how much a process has received, and the siblings that it mustn't be ahead of.
type progress struct {
	received uint64
	siblings replicas
}

// sending is a frame and its receiver.
type sending struct {
	to          proto.Proc
	incarnation proto.Incarnation // of to, as far as the sender knows
	frame       frame
}

func (r *reaction) send(to proto.Proc, f frame) {
	f.incarnation = r.n.incarnation
	incarnation := r.n.m.incarnation(to)
	if r.n.status == joiner { // its machine hasn't heard of those that its launcher told it
		incarnation = max(incarnation, r.n.told[to])
	}
	r.sends = append(r.sends, sending{to, incarnation, f})
}

// to lets the process react to an event. f is the frame that arrives, or, for evHeal, the frame
// that begins a conversation about its incarnation.
func (r *reaction) to(e event, f frame) error {
	n := r.n
	var out Actions
	switch e.kind {
	case evStep:
		o := r.program[r.layout.Rank(e.at)][n.pc]
		n.open = append(n.open, open{n.pc, o.kind == opOffer})
		msg := &Message{Context: o.context, Dst: o.peer, Rendezvous: o.kind == opOffer, User: uint64(n.pc), Total: 1}
		n.transmit(msg, &out)
		n.pc++
		n.throttled = o.kind == opSend
		r.bug.sent(n, &out)
	case evFlush:
		n.m.FlushAcks(&out)
		r.bug.flushed(n, out)
	case evDeliver:
		if f.incarnation < n.m.incarnation(e.other) {
			break // a frame of a closed connection
		}
		if n.status == joiner { // it can answer a process that has reached it
			n.told[e.other] = max(n.told[e.other], f.incarnation)
		}
		if err := r.receive(e.other, f, &out); err != nil {
			return err
		}
	case evNotice:
		n.told[e.other]++
		r.bug.dead(n, e.other, n.told[e.other]-1, &out)
		n.orphan()
		if n.status == joiner && n.donor == e.other {
			r.died = true
			return nil
		}
	case evHeal:
		n.paused = true
		if !n.m.Donate(e.other, f.incarnation, &out) {
			panic("replica: a donor at a safe point declines")
		}
		r.bug.donated(n, &out)
	case evSuspect:
		n.status = doomed
	case evLeave:
		n.status = left
		for p := range r.layout.Procs() {
			r.send(proto.Proc(p), frame{kind: frameGoodbye})
		}
		return nil
	}
	if r.prompt && n.status != joiner {
		n.m.FlushAcks(&out)
		r.bug.flushed(n, out)
	}
	if err := r.carryOut(out); err != nil {
		return err
	}
	for rank := range proto.Rank(r.layout.Ranks()) {
		if n.status == running && n.m.Lost(rank) {
			return fmt.Errorf("%v: %v counts as lost", r.at, rank)
		}
	}
	return r.advance()
}

// transmit sends a message in one of two ways, if both are possible.
func (n *node) transmit(msg *Message, out *Actions) {
	if !msg.Rendezvous && msg.Context == 0 {
		if s, ok := n.m.SendOne(msg.Context, msg.Dst); ok {
			msg.Seq = s.Seq
			out.transmit(msg, s.To)
			if s.Pending() {
				n.m.Retain(&s, msg)
			} else {
				out.release(msg)
			}
			return
		}
	}
	n.m.Send(msg, out)
}

// carryOut performs the actions that a machine asked for.
func (r *reaction) carryOut(out Actions) error {
	n := r.n
	for _, a := range out {
		switch a.Kind {
		case Transmit:
			kind := frameEager
			if a.Message.Rendezvous {
				kind = frameOffer
			}
			r.send(a.To, frame{kind: kind, context: a.Message.Context, seq: a.Message.Seq, id: int(a.Message.User)})
		case Acknowledge:
			r.send(a.To, frame{kind: frameAck, context: a.Context, seq: a.Seq, single: a.Single})
		case Redirect:
			i := slices.IndexFunc(n.inbox, func(i item) bool {
				return i.context == a.Context && i.src == r.layout.Rank(a.To) && i.seq == a.Seq
			})
			if i < 0 || n.inbox[i].complete || n.inbox[i].spare&(1<<a.To) == 0 {
				return fmt.Errorf("%v: redirected to %v, which hasn't offered message %d", r.at, a.To, a.Seq)
			}
			if err := r.pullFrom(&n.inbox[i], a.To); err != nil {
				return err
			}
		case Report:
			r.send(a.To, frame{kind: frameReport, seq: a.Seq})
		case Tell:
			r.send(a.To, frame{kind: frameNote, note: a.NoteOf()})
		case Handover:
			var more Actions
			r.handOver(a.Replacement, &more)
			if err := r.carryOut(more); err != nil {
				return err
			}
		case Abandoned:
			n.paused = false
			r.abandoned = a.Replacement
		case Healed:
			r.healed = true
		case Release:
			if n.status == joiner {
				break // of a machine that had no state yet
			}
			i := slices.IndexFunc(n.open, func(o open) bool { return o.id == int(a.Message.User) })
			if i < 0 {
				return fmt.Errorf("%v released message %d twice", r.at, a.Message.User)
			}
			n.open = slices.Delete(slices.Clone(n.open), i, i+1)
		}
	}
	return nil
}

// pullFrom pulls a rendezvous from another sender, since the earlier one is dead.
func (r *reaction) pullFrom(i *item, from proto.Proc) error {
	if i.from != proto.NoProc || !r.n.m.Alive(from) {
		return fmt.Errorf("%v turns from %v to %v for message %d", r.at, i.from, from, i.id)
	}
	i.from = from
	if i.pulled {
		r.send(from, frame{kind: framePull, context: i.context, seq: i.seq, id: i.id})
	}
	return nil
}

// orphan notes which offers have no sender any more. A replacement in the slot offers again,
// under the same number.
func (n *node) orphan() {
	for i := range n.inbox {
		item := &n.inbox[i]
		if peers := n.m.peers[item.src]; item.from != proto.NoProc && (peers.dead|peers.joining)&n.m.bit(item.from) != 0 {
			item.from = proto.NoProc
		}
		for p := range proto.Proc(len(n.told)) {
			if !n.m.Alive(p) {
				item.spare &^= 1 << p
			}
		}
	}
}

// receive is a process's reaction to a frame. It reacts as the layer above the machine should.
func (r *reaction) receive(from proto.Proc, f frame, out *Actions) error {
	n, src := r.n, r.layout.Rank(from)
	known := func(i item) bool { return i.context == f.context && i.src == src && i.seq == f.seq }
	switch f.kind {
	case frameEager, frameOffer:
		rendezvous := f.kind == frameOffer
		verdict := r.bug.judge(n, from, f)
		if (verdict == Excluded) != (n.m.peers[src].dead&n.m.bit(from) != 0) {
			return fmt.Errorf("%v: %v for a frame of %v", r.at, verdict, from)
		}
		switch verdict {
		case Accept:
			n.inbox = append(n.inbox, item{f.context, src, f.seq, f.id, from, false, !rendezvous, 0})
		case Spare, Reoffer:
			i := slices.IndexFunc(n.inbox, known)
			if i < 0 || n.inbox[i].complete || n.inbox[i].id != f.id {
				return fmt.Errorf("%v: reoffer of message %d, which isn't incomplete", r.at, f.id)
			}
			if verdict == Spare {
				n.inbox[i].spare |= 1 << from
			} else if err := r.pullFrom(&n.inbox[i], from); err != nil {
				return err
			}
		case Invalid:
			return fmt.Errorf("%v: number %d of %v is invalid", r.at, f.seq, from)
		}
	case framePull:
		c := n.m.sending.channels.Find(f.context, src)
		entry := c.retained.find(f.seq)
		if n.m.peers[src].dead&n.m.bit(from) != 0 {
			break
		}
		if entry == nil {
			return fmt.Errorf("%v: %v pulls message %d, which is released", r.at, from, f.id)
		}
		r.send(from, frame{kind: frameData, context: f.context, seq: f.seq, id: f.id})
		n.m.Delivered(entry.value, from, out)
	case frameData:
		i := slices.IndexFunc(n.inbox, known)
		if n.m.peers[src].dead&n.m.bit(from) == 0 && i >= 0 && n.inbox[i].from == from && !n.inbox[i].complete {
			n.inbox[i].complete = true
			n.m.Completed(f.context, src, f.seq)
		}
	case frameAck:
		r.bug.acked(n, from, f, out)
	case frameReport:
		n.m.Reported(from, f.seq)
	case frameGoodbye:
		n.m.Left(from, out)
	case frameNote:
		r.bug.noted(n, from, f.note, out)
		n.orphan()
	case frameState:
		return r.join(f, out)
	}
	return nil
}

// advance runs a program up to its next send or wait, and checks the messages that it receives.
func (r *reaction) advance() error {
	n, rank := r.n, r.layout.Rank(r.at)
	if n.status == joiner || n.paused {
		return nil
	}
	if n.throttled {
		if n.m.Throttled() {
			return nil
		}
		n.throttled = false
		if n.m.arrival.offered == 0 { // else another process may wait for it
			r.goesOn = &progress{n.m.skew.received, n.m.siblings()}
		}
	}
	for steps := r.program[rank]; n.pc < len(steps); n.pc++ {
		o := steps[n.pc]
		switch o.kind {
		case opSend, opOffer:
			return nil
		case opWait:
			if slices.ContainsFunc(n.open, func(o open) bool { return o.rendezvous }) {
				return nil
			}
		case opRecv:
			i := slices.IndexFunc(n.inbox, func(i item) bool { return i.context == o.context && i.src == o.peer })
			if i < 0 {
				return nil
			}
			if !n.inbox[i].complete {
				if !n.inbox[i].pulled {
					n.inbox[i].pulled = true
					if from := n.inbox[i].from; from != proto.NoProc {
						r.send(from, frame{kind: framePull, context: o.context, seq: n.inbox[i].seq, id: n.inbox[i].id})
					}
				}
				return nil
			}
			got := &n.got[int(o.context)*r.layout.Ranks()+int(o.peer)]
			if want := r.program.expected(o.peer, rank, o.context, *got); n.inbox[i].id != want {
				return fmt.Errorf("%v received message %d of %v in context %d, not %d", r.at, n.inbox[i].id, o.peer, o.context, want)
			}
			*got++
			if i := n.inbox[i]; i.pulled {
				// A rendezvous: its sender waits.
			} else if n.m.Received(messageSize) {
				if err := r.ask(n.m.Report); err != nil {
					return err
				}
			}
			n.inbox = slices.Delete(n.inbox, i, i+1)
		}
	}
	if !n.m.skew.through {
		return r.ask(n.m.Through)
	}
	return nil
}
