package process

import (
	"errors"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/match"
	"banyan/internal/runtime/state"
)

// A replacement runs the program from main to its first safe point on the log of a donor:
// its receives find the donor's messages, in the donor's order, and its sends go
// nowhere, since other replicas have made them. Everything above is the ordinary
// library; so communicators and what else a program sets up come out the same.

// ErrReplay is wrapped by what ends a replacement that doesn't do what its donor did.
var ErrReplay = errors.New("this process can't take the place of a dead replica: up to its first safe point it doesn't do what the other replicas did")

// replayTimeout is how long a replacement's program may wait for a message in vain. All that
// its rank ever received is there: only another of its threads could still send it one.
const replayTimeout = proto.Time(10e9)

// replay is a replacement's, until its first safe point.
type replay struct {
	decoder *state.Decoder
	log     []byte // what is to be brought in yet
	whole   []byte
	begun   bool // the log is here
	own     int  // messages to itself that the program has sent ahead of their place
	failed  error

	moves, seen uint64     // what the program has done, and when somebody last waited
	since       proto.Time // of seen
}

// newReplay makes the replay of a process that was started to fill a place.
func newReplay() *replay {
	r := &replay{}
	r.decoder = state.NewDecoder(state.Sink{Name: logRegion, Limit: 2 * LogLimit, Load: func(log []byte) error {
		if len(log) < accountLength {
			return fmt.Errorf("%w: %d bytes", ErrLog, len(log))
		}
		r.whole, r.log = log, log[accountLength:]
		return nil
	}})
	return r
}

// Replaying tells whether this process is a replacement on its way to its first safe point.
func (p *Process) Replaying() bool { return p.healing.replay != nil }

// LogWhole tells whether the donor's log is here: the program of a replacement must not
// start before.
func (p *Process) LogWhole() bool { return p.healing.replay == nil || p.healing.replay.begun }

// FeedLog takes the next bytes of the donor's log.
func (p *Process) FeedLog(chunk []byte) error {
	r := p.healing.replay
	if r == nil {
		return fmt.Errorf("%w: nobody waits for it", ErrLog)
	}
	if err := r.decoder.Write(chunk); err != nil {
		return err
	}
	if r.decoder.Whole() && !r.begun {
		r.begun = true
		p.replayLog()
	}
	return nil
}

// replayLog brings messages of the log to matching, up to one that the program must send
// itself.
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
			r.status, r.stamp = Status{Source: l.envelope.Src, Tag: l.envelope.Tag, Bytes: int(l.total)}, append(r.stamp[:0], l.stamp...)
			p.fillLogged(h, r, l.body, l.total)
			return
		}
	}
	ah, a := p.newArrival(l.envelope, l.total)
	a.stamp = append(a.stamp, l.stamp...)
	if l.have == unreceived {
		// The donor didn't receive it either. It is there to be probed.
		a.offered, a.from = true, proto.NoProc
	} else {
		a.body = p.buffers.copyOf(l.body)
	}
	p.match.Keep(l.envelope, ah.index)
	p.Changes++
}

// fillLogged is fill for a message of which the log may have a part only.
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
		h := p.sendSelf(match.Envelope{Context: context, Src: p.rank, Tag: tag}, data, synchronous)
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

// Stalled says that somebody waits, and that there is nothing to do. A replacement that
// waits for what its donor never received would wait for ever.
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
	p.host.HealFailed(err)
}

// EndReplay ends the replay, at the replacement's first safe point. The error says that
// the program has come there on another way than its donor.
func (p *Process) EndReplay() error {
	r := p.healing.replay
	switch {
	case r.failed != nil:
		return r.failed
	case !r.begun:
		return fmt.Errorf("%w: the log isn't here", ErrReplay)
	case len(r.log) > 0 || r.own > 0:
		return fmt.Errorf("%w: messages to itself are missing, or are too many", ErrReplay)
	case !p.healing.history.sent.same(r.whole):
		return fmt.Errorf("%w: what it has sent isn't what they have (messages: %d)", ErrReplay, p.healing.history.sent.messages)
	}
	p.healing.replay = nil
	p.healing.history.whole = r.whole
	p.healing.history.freeze()
	return nil
}

// FreezeLog ends the log of a process that has come to its first safe point, and tells
// whether the rank can be healed from here.
func (p *Process) FreezeLog() error {
	switch {
	case p.healing.history == nil:
		return errors.New("no log is kept")
	case p.healing.history.over:
		return fmt.Errorf("it has received more than %d MiB before its first safe point", LogLimit>>20)
	}
	p.healing.history.freeze()
	return nil
}

// LogEncoder is the stream of this process's log for a replacement, nil if it has none.
func (p *Process) LogEncoder() *state.Encoder {
	if p.healing.history == nil {
		return nil
	}
	return p.healing.history.encoder()
}
