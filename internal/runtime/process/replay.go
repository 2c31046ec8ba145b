package process

import (
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/state"
)

// A replacement runs the program from main to its first safe point on the log of a donor. Its
// receives find the donor's messages, in the donor's order. Its sends go nowhere, since other
// replicas have made them. Everything above is the ordinary library, so communicators and
// whatever else a program sets up come out the same.

// ErrReplay is wrapped by what ends a replacement that doesn't do what its donor did.
var ErrReplay = errors.New("this process can't replace a dead replica: up to its first safe point it doesn't do what the other replicas did")

// replayTimeout is how long a replacement's program may wait for a message in vain. Everything
// that its rank received is there: only another of its threads could still send it a message.
const replayTimeout = proto.Time(10e9)

// replay is a replacement's state until its first safe point.
type replay struct {
	decoder *state.Decoder
	log     []byte // the part that matching hasn't got yet
	whole   []byte
	answers []byte // in leader order, what was decided
	begun   bool   // the log is here
	own     int    // messages to itself that the program has sent before the log has come to them
	failed  error

	moves, seen uint64     // what the program has done, now and at the last wait
	since       proto.Time // of seen
}

// newReplay makes the replay of a replacement; in leader order with what was decided.
func newReplay(led bool) *replay {
	r := &replay{}
	sinks := []state.Sink{{Name: logRegion, Limit: 2 * LogLimit, Load: func(log []byte) error {
		if len(log) < accountLength {
			return fmt.Errorf("%w: %d bytes", ErrLog, len(log))
		}
		r.whole, r.log = log, log[accountLength:]
		return nil
	}}}
	if led {
		sinks = append(sinks, state.Sink{Name: answersRegion, Limit: LogLimit, Load: func(b []byte) error {
			r.answers = b
			return nil
		}})
	}
	r.decoder = state.NewDecoder(sinks...)
	return r
}

// Replaying tells whether this process is a replacement on its way to its first safe point.
func (p *Process) Replaying() bool { return p.healing.replay != nil }

// LogWhole tells whether the donor's log is here. A replacement's program must not start before.
func (p *Process) LogWhole() bool { return p.healing.replay == nil || p.healing.replay.begun }

// FeedLog takes the next bytes of the donor's log.
func (p *Process) FeedLog(chunk []byte) error {
	r := p.healing.replay
	if r == nil {
		return fmt.Errorf("%w: this process doesn't wait for one", ErrLog)
	}
	if err := r.decoder.Write(chunk); err != nil {
		return err
	}
	if r.decoder.Whole() && !r.begun {
		r.begun = true
		if p.order != nil {
			p.learn(r.answers)
		}
		p.replayLog()
	}
	return nil
}

// replayLog brings messages of the log to matching, up to one that the program must send itself.
func (p *Process) replayLog() {
	r := p.healing.replay
	if !r.begun || r.failed != nil {
		return
	}
	var l logged
	for len(r.log) > 0 {
		rest, err := l.next(r.log, p.clock.StampSize())
		if err != nil {
			p.failReplay(err)
			return
		}
		if l.have == ownMessage {
			if r.own == 0 {
				return
			}
			r.own--
		} else {
			p.deliverLogged(&l)
		}
		r.log = rest
	}
}

// deliverLogged is deliver for a message of the log.
func (p *Process) deliverLogged(l *logged) {
	if l.have != unreceived {
		if token, ok := p.match.Claim(l.envelope); ok {
			h, r := p.requests.at(token)
			r.status, r.stamp = Status{Source: l.envelope.Src, Tag: l.envelope.Tag, Type: l.typ, Bytes: int(l.total)}, append(r.stamp[:0], l.stamp...)
			p.fillLogged(h, r, l.body, l.total)
			return
		}
	}
	ah, a := p.newArrival(l.envelope, l.total)
	a.stamp, a.typ = append(a.stamp, l.stamp...), l.typ
	if l.have == unreceived {
		// The donor didn't receive it either. A probe may find it.
		a.offered, a.from = true, proto.NoProc
	} else {
		a.body = p.buffers.copyOf(l.body)
	}
	p.match.Keep(l.envelope, ah.index)
	p.Changes++
}

// fillLogged is fill for a message of which the log may have only a part.
func (p *Process) fillLogged(h Handle, r *request, body []byte, total uint64) {
	copy(r.buffer, body)
	switch {
	case uint64(len(r.buffer)) < total:
		p.complete(h, r, truncated(r.status, r.buffer))
	case uint64(len(body)) < total:
		p.failReplay(fmt.Errorf("%w: its room for a message is %d bytes, and they received %d of it", ErrReplay, len(r.buffer), len(body)))
		if !r.done { // the replay had failed before
			p.complete(h, r, p.healing.replay.failed)
		}
	default:
		p.complete(h, r, nil)
	}
}

// sendReplayed is start for a replacement.
func (p *Process) sendReplayed(context uint64, dst proto.Rank, tag int32, data []byte, synchronous bool) Handle {
	r := p.healing.replay
	r.moves++
	if r.failed != nil {
		h, q := p.newRequest(sending)
		p.complete(h, q, r.failed)
		return h
	}
	if dst == p.rank {
		h := p.sendSelf(match.Envelope{Context: context, Src: p.rank, Tag: tag}, data, 0, synchronous)
		r.own++
		p.replayLog()
		return h
	}
	p.healing.history.sent.note(context, dst, tag, len(data))
	stamp := p.buffers.get(p.clock.StampSize())
	p.activeClock().Stamp(stamp)
	p.buffers.put(stamp)
	return Handle{}
}

// Stalled says that the program waits, and that there is nothing to do. A replacement that waits
// for what its donor never received would wait for ever.
func (p *Process) Stalled() {
	r := p.healing.replay
	if r == nil || !r.begun || r.failed != nil {
		return
	}
	if moves := r.moves + p.Changes; moves != r.seen || r.since == 0 {
		r.seen, r.since = moves, p.now
		return
	}
	if p.now-r.since > replayTimeout {
		p.failReplay(fmt.Errorf("%w: it waits for a message that they hadn't received", ErrReplay))
	}
}

// failReplay ends a replacement that can't go on.
func (p *Process) failReplay(err error) {
	r := p.healing.replay
	if r.failed != nil {
		return
	}
	r.failed = err
	p.requests.each(func(h Handle, q *request) {
		if q.kind == receiving && !q.done && q.arrival == (Handle{}) {
			p.match.Cancel(q.posted)
		}
		if q.kind != composite {
			p.complete(h, q, err)
		}
	})
	p.Changes++
	p.HealFailed(err)
}

// EndReplay ends the replay, at the replacement's first safe point. The error says that the
// program has come there in another way than its donor.
func (p *Process) EndReplay() error {
	r := p.healing.replay
	switch {
	case r.failed != nil:
		return r.failed
	case !r.begun:
		return fmt.Errorf("%w: the log isn't here", ErrReplay)
	case len(r.log) > 0 || r.own > 0:
		return fmt.Errorf("%w: messages to itself are missing, or are too many", ErrReplay)
	case p.order != nil && !p.order.spent():
		return fmt.Errorf("%w: it hasn't asked all that they have asked", ErrReplay)
	case !p.healing.history.sent.same(r.whole):
		return fmt.Errorf("%w: what it has sent isn't what they have (messages: %d)", ErrReplay, p.healing.history.sent.messages)
	}
	p.healing.replay = nil
	p.healing.history.whole = r.whole
	p.healing.history.freeze()
	if p.order != nil {
		p.order.prefix.is(r.answers)
	}
	return nil
}

// FreezeLog ends the log of a process that has come to its first safe point. The error says why
// the rank can't be healed from here.
func (p *Process) FreezeLog() error {
	switch {
	case p.healing.history == nil:
		return errors.New("no log is kept")
	case p.healing.history.over:
		return fmt.Errorf("it has received more than %d MiB before its first safe point", LogLimit>>20)
	}
	p.healing.history.freeze()
	p.EndPrefix()
	_, err := p.Prefix()
	return err
}

// LogEncoder is the stream of this process's log for a replacement, nil if it has none.
func (p *Process) LogEncoder() *state.Encoder {
	switch decided, err := p.Prefix(); {
	case p.healing.history == nil || err != nil:
		return nil
	case p.order != nil:
		return p.healing.history.encoder(state.Bytes(answersRegion, decided))
	}
	return p.healing.history.encoder()
}
