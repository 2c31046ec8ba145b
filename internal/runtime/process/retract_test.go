package process

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
	"banyan/internal/testing/explore"
)

// A retractWorld is two processes: the first sends and cancels, the second receives. Every order of
// their steps, of the frames' arrivals and of a death is tried. A process can't be copied, so a
// state is made anew from what has happened.
type retractWorld struct {
	*retractScript
	happened []retractEvent

	job      *testJob
	at       [2]int // steps taken
	sends    []retractSend
	receives []*retractReceive
	probed   Handle
}

type retractScript struct {
	steps   [2][]retractStep
	dies    bool // the receiver may
	mistake retractMistake

	cancelled, sent int // sends that ended so, in the ends that were seen
}

type retractStep struct {
	do  retractDeed
	arg int // of which send; or which tag
}

type retractDeed int

const (
	sendEager retractDeed = iota
	sendLarge
	sendSynchronous
	sendThrottled // eager, as long as there is no room
	giveRoom
	cancelSend
	postReceive
	postAny
	cancelReceive
	matchedProbe // and, if it finds nothing, a receive
	receiveProbed
)

type retractEvent int

const (
	senderSteps retractEvent = iota
	receiverSteps
	frameArrives
	answerArrives
	receiverDies
	receiverDiesSilent // what it has sent is lost
)

type retractMistake int

const (
	correct        retractMistake = iota
	saysWithdrawn                 // whatever has become of the message
	keepsIt                       // and says that it hasn't
	overtakes                     // the question comes before the message
	losesAnswers                  // nobody tells the sender
	mistakesOthers                // it drops another message
	forgetsProbes                 // it doesn't say that a probe has matched the message
)

type retractSend struct {
	h         Handle
	number    uint32
	tag       int32
	data      []byte
	cancelled bool // the program has called it
	verdict   Handle
	err       error
	done      bool
}

type retractReceive struct {
	h      Handle
	buffer []byte
	got    int // which message; -1: none yet; -2: cancelled
}

const retractTag = 5

func newRetractWorld(s *retractScript, happened []retractEvent) *retractWorld {
	w := &retractWorld{retractScript: s}
	w.job = newTestJob(panics{}, 1, layout.Uniform(2, 1), func(proto.Rank, int) program { return nil })
	clear(w.job.links) // heartbeats
	for _, e := range happened {
		if err := w.Apply(e); err != nil {
			panic(err)
		}
	}
	return w
}

// panics is a testing.TB for what must not fail.
type panics struct{ testing.TB }

func (panics) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }
func (panics) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

func (w *retractWorld) link(from, to proto.Proc) [2]proto.Proc { return [2]proto.Proc{from, to} }

func (w *retractWorld) Events(dst []retractEvent) []retractEvent {
	dead := w.job.nodes[1].dead
	if w.at[0] < len(w.steps[0]) {
		dst = append(dst, senderSteps)
	}
	if w.at[1] < len(w.steps[1]) && !dead {
		dst = append(dst, receiverSteps)
	}
	if len(w.job.links[w.link(0, 1)]) > 0 && !dead {
		dst = append(dst, frameArrives)
	}
	if len(w.job.links[w.link(1, 0)]) > 0 {
		dst = append(dst, answerArrives)
	}
	if w.dies && !dead {
		dst = append(dst, receiverDies, receiverDiesSilent)
	}
	return dst
}

var (
	errRetractBoth    = errors.New("a message is received whose send was cancelled")
	errRetractNeither = errors.New("a message is lost, and its send wasn't cancelled")
	errRetractWaits   = errors.New("the wait for a cancelled send isn't local")
	errRetractHangs   = errors.New("a receive waits for data that never comes")
	errRetractOrder   = errors.New("messages are out of order")
)

func (w *retractWorld) Apply(e retractEvent) error {
	w.happened = append(w.happened, e)
	sender, receiver := w.job.nodes[0], w.job.nodes[1]
	switch e {
	case senderSteps:
		w.stepSender(sender.p, w.steps[0][w.at[0]])
		w.at[0]++
	case receiverSteps:
		w.stepReceiver(receiver.p, w.steps[1][w.at[1]])
		w.at[1]++
	case frameArrives:
		w.frameArrives()
	case answerArrives:
		w.job.deliver(w.link(1, 0))
	case receiverDies, receiverDiesSilent:
		receiver.dead = true
		if e == receiverDiesSilent {
			w.job.links[w.link(1, 0)] = nil
		}
		w.job.push(1, 0, packet{closed: true})
	}
	for _, n := range w.job.nodes {
		for n.p.Work() && !n.dead {
		}
	}
	w.collect()
	return w.check()
}

func (w *retractWorld) frameArrives() {
	key := w.link(0, 1)
	frames := w.job.links[key]
	if w.mistake == overtakes {
		if i := slices.IndexFunc(frames, func(p packet) bool { return p.header.Kind == wire.KindRetract }); i > 0 {
			ahead := frames[i]
			copy(frames[1:], frames[:i])
			frames[0] = ahead
		}
	}
	f := &frames[0]
	if f.header.Kind != wire.KindRetract {
		w.job.deliver(key)
		return
	}
	before := len(w.job.links[w.link(1, 0)])
	switch w.mistake {
	case keepsIt:
		w.job.links[key] = frames[1:]
		var h wire.Header
		wire.Retracted{Request: f.header.Retract().Request, Outcome: wire.Withdrawn}.Put(&h)
		w.job.push(1, 0, packet{header: h})
		return
	case mistakesOthers:
		if f.header.Retract().Eager {
			f.header.ID++
		}
	}
	w.job.deliver(key)
	switch answers := w.job.links[w.link(1, 0)]; w.mistake {
	case saysWithdrawn:
		answers[len(answers)-1].header.Flags = uint8(wire.Withdrawn)
	case forgetsProbes:
		answers[len(answers)-1].header.Flags &^= uint8(wire.Probed)
	case losesAnswers:
		w.job.links[w.link(1, 0)] = answers[:before]
	}
}

func (w *retractWorld) stepSender(p *Process, s retractStep) {
	number := uint32(len(w.sends) + 1)
	m := retractSend{tag: retractTag, number: number}
	message := func(size int) []byte {
		m.data = make([]byte, size)
		for i := range m.data {
			m.data[i] = byte(number)
		}
		return m.data
	}
	switch s.do {
	case sendEager:
		m.h = p.SendNumbered(2, 1, m.tag, message(9), number)
	case sendLarge:
		m.h = p.Send(2, 1, m.tag, message(EagerLimit+1))
	case sendSynchronous:
		m.h = p.SendSynchronous(2, 1, m.tag, message(9))
	case sendThrottled:
		w.job.nodes[0].crammed = true
		m.h = p.SendNumbered(2, 1, m.tag, message(9), number)
	case giveRoom:
		w.job.nodes[0].crammed = false
		return
	case cancelSend:
		c := &w.sends[s.arg]
		switch c.cancelled = true; {
		case c.h == Handle{}:
			c.verdict = p.Retract(1, c.number)
			c.done = c.verdict == Handle{}
		default:
			p.CancelSend(c.h)
		}
		return
	}
	w.sends = append(w.sends, m)
}

func (w *retractWorld) stepReceiver(p *Process, s retractStep) {
	post := func(src proto.Rank) {
		r := &retractReceive{buffer: make([]byte, EagerLimit+1), got: -1}
		r.h = p.Receive(2, src, retractTag, r.buffer)
		w.receives = append(w.receives, r)
	}
	switch s.do {
	case postReceive:
		post(0)
	case postAny:
		post(proto.AnyRank)
	case cancelReceive:
		p.Cancel(w.receives[s.arg].h)
	case matchedProbe:
		h, _, ok, _ := p.MatchedProbe(2, 0, retractTag)
		if ok {
			w.probed = h
		} else {
			post(0)
		}
	case receiveProbed:
		if w.probed != (Handle{}) {
			r := &retractReceive{buffer: make([]byte, EagerLimit+1), got: -1}
			r.h, w.probed = p.ReceiveMatched(w.probed, r.buffer), Handle{}
			w.receives = append(w.receives, r)
		}
	}
}

// collect takes the outcomes of what has ended. The program uses its memory again then.
func (w *retractWorld) collect() {
	p := w.job.nodes[0].p
	for i := range w.sends {
		s := &w.sends[i]
		h := s.h
		if s.cancelled && s.h == (Handle{}) {
			h = s.verdict
		}
		if s.done || !p.Done(h) || h == (Handle{}) {
			continue
		}
		_, s.err = p.Take(h)
		s.done = true
		clear(s.data)
	}
	if w.job.nodes[1].dead {
		return
	}
	for _, r := range w.receives {
		if r.got != -1 || !w.job.nodes[1].p.Done(r.h) {
			continue
		}
		s, err := w.job.nodes[1].p.Take(r.h)
		switch {
		case errors.Is(err, ErrCancelled):
			r.got = -2
		case err != nil:
			panic(err)
		default:
			r.got = int(r.buffer[0]) - 1
			if slices.ContainsFunc(r.buffer[:s.Bytes], func(b byte) bool { return b != r.buffer[0] }) {
				r.got = len(w.sends) // torn
			}
		}
	}
}

func (w *retractWorld) check() error {
	last := -1
	for _, r := range w.receives {
		switch {
		case r.got < 0:
			continue
		case r.got >= len(w.sends), r.got <= last:
			return errRetractOrder
		case errors.Is(w.sends[r.got].err, ErrCancelled):
			return errRetractBoth
		}
		last = r.got
	}
	if len(w.job.links[w.link(0, 1)])+len(w.job.links[w.link(1, 0)]) > 0 {
		return nil
	}
	for _, s := range w.sends {
		if s.cancelled && !s.done {
			return errRetractWaits
		}
	}
	return nil
}

// End has the receiver receive whatever is left.
func (w *retractWorld) End() error {
	if w.job.nodes[1].dead {
		return w.check()
	}
	p := w.job.nodes[1].p
	if w.probed != (Handle{}) {
		w.stepReceiver(p, retractStep{do: receiveProbed})
	}
	w.job.nodes[0].crammed = false
	for range w.sends {
		w.stepReceiver(p, retractStep{do: postReceive})
	}
	for len(w.job.links[w.link(0, 1)])+len(w.job.links[w.link(1, 0)]) > 0 {
		e := frameArrives
		if len(w.job.links[w.link(0, 1)]) == 0 {
			e = answerArrives
		}
		if err := w.Apply(e); err != nil {
			return err
		}
	}
	w.collect()
	for i, s := range w.sends {
		came := slices.ContainsFunc(w.receives, func(r *retractReceive) bool { return r.got == i })
		switch cancelled := errors.Is(s.err, ErrCancelled); {
		case cancelled && came:
			return errRetractBoth
		case !cancelled && !came:
			return errRetractNeither
		case cancelled:
			w.cancelled++
		default:
			w.sent++
		}
	}
	hang := false
	p.receives.arrivals.each(func(Handle, *arrival) { hang = true })
	if hang {
		return errRetractHangs
	}
	return w.check()
}

func (w *retractWorld) Clone() *retractWorld { return newRetractWorld(w.retractScript, w.happened) }

func (w *retractWorld) AppendKey(dst []byte) []byte {
	for _, e := range w.happened {
		dst = append(dst, byte(e))
	}
	return dst
}

func retractScripts() map[string]*retractScript {
	scripts := map[string]*retractScript{}
	kinds := map[string]retractDeed{"eager": sendEager, "large": sendLarge, "synchronous": sendSynchronous, "throttled": sendThrottled}
	receivers := map[string][]retractStep{
		"late":     nil,
		"receives": {{do: postReceive}},
		"any":      {{do: postAny}, {do: cancelReceive}},
		"probes":   {{do: matchedProbe}, {do: receiveProbed}},
	}
	for kind, send := range kinds {
		for name, receiver := range receivers {
			one := []retractStep{{do: send}, {do: cancelSend}}
			if send == sendThrottled {
				one = append(one, retractStep{do: giveRoom})
			}
			scripts[kind+", "+name] = &retractScript{steps: [2][]retractStep{one, receiver}}
			if name == "any" && !explore.Long() {
				continue
			}
			scripts[kind+", "+name+", death"] = &retractScript{steps: [2][]retractStep{one, receiver}, dies: true}
		}
		scripts[kind+", two"] = &retractScript{steps: [2][]retractStep{{{do: send}, {do: sendEager}, {do: cancelSend, arg: 0}}, {{do: postReceive}}}}
		scripts[kind+", both"] = &retractScript{steps: [2][]retractStep{{{do: sendEager}, {do: send}, {do: cancelSend, arg: 1}, {do: cancelSend, arg: 0}}, {{do: postReceive}}}}
	}
	return scripts
}

// A send that is cancelled ends soon, whatever the receiver's program does; and either it was
// cancelled or its message is received, whatever the order of things.
func TestRetractions(t *testing.T) {
	for name, s := range retractScripts() {
		stats, err := explore.All(newRetractWorld(s, nil), 2_000_000)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %+v, %d cancelled, %d sent", name, stats, s.cancelled, s.sent)
		if !s.dies && (s.cancelled == 0 || s.sent == 0 && len(s.steps[1]) > 0) {
			t.Errorf("%s: %d sends were cancelled, %d not", name, s.cancelled, s.sent)
		}
	}
}

// The exploration finds mistakes.
func TestRetractionCanaries(t *testing.T) {
	for name, c := range map[string]struct {
		mistake retractMistake
		script  string
		want    error
	}{
		"cancelled and received":           {saysWithdrawn, "eager, receives", errRetractBoth},
		"kept":                             {keepsIt, "synchronous, receives", errRetractHangs},
		"kept, eager":                      {keepsIt, "eager, late", errRetractBoth},
		"an offer that comes too late":     {overtakes, "large, late", errRetractWaits},
		"no answer":                        {losesAnswers, "eager, late", errRetractWaits},
		"another message":                  {mistakesOthers, "eager, two", errRetractBoth},
		"a probed message that isn't kept": {forgetsProbes, "large, probes", errRetractWaits},
	} {
		s := *retractScripts()[c.script]
		s.mistake = c.mistake
		if _, err := explore.All(newRetractWorld(&s, nil), 2_000_000); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// A rank that sends to itself cancels as it does elsewhere.
func TestRetractOwn(t *testing.T) {
	p := newTestJob(t, 1, layout.Uniform(2, 1), func(proto.Rank, int) program { return nil }).nodes[0].p
	outcome := func(h Handle) error {
		t.Helper()
		if !p.Done(h) {
			t.Fatal("the send waits")
		}
		_, err := p.Take(h)
		return err
	}
	data := []byte("data")
	synchronous := p.SendSynchronous(2, 0, 1, data)
	p.SendNumbered(2, 0, 1, data, 7)
	if h := p.Retract(0, 8); h != (Handle{}) {
		t.Error("a message that isn't there is cancelled")
	}
	if err := outcome(p.Retract(0, 7)); !errors.Is(err, ErrCancelled) {
		t.Error(err)
	}
	p.CancelSend(synchronous)
	if err := outcome(synchronous); !errors.Is(err, ErrCancelled) {
		t.Error(err)
	}
	if _, found, _ := p.Probe(2, 0, 1); found {
		t.Error("a message is left")
	}
	synchronous = p.SendSynchronous(2, 0, 1, data)
	m, _, _, _ := p.MatchedProbe(2, 0, 1)
	p.CancelSend(synchronous)
	if err := outcome(synchronous); err != nil {
		t.Error(err)
	}
	if s, err := p.Take(p.ReceiveMatched(m, make([]byte, 9))); err != nil || s.Bytes != 4 {
		t.Error(s, err)
	}
}

// A job with replicas takes no message back: also not for one that asks.
func TestRetractWithReplicas(t *testing.T) {
	w := newTestJob(t, 1, layout.Uniform(2, 2), func(proto.Rank, int) program { return nil })
	p := w.nodes[0].p
	h := p.SendSynchronous(2, 1, 1, []byte("data"))
	clear(w.links)
	p.CancelSend(h)
	if p.Retract(1, 3) != (Handle{}) || p.requests.get(h).asksBack || len(w.links) > 0 {
		t.Error("a message is asked back")
	}
	if got := p.takeBack(1, wire.Retract{Eager: true, Message: 3}); got != wire.Matched {
		t.Error(got)
	}
}

// What a receiver hears from a rank that leaves in order, or never, ends the wait.
func TestRetractFromWhoLeaves(t *testing.T) {
	w := newTestJob(t, 1, layout.Uniform(2, 1), func(proto.Rank, int) program { return nil })
	p := w.nodes[0].p
	p.SendNumbered(2, 1, 1, nil, 1)
	w.nodes[0].crammed = true
	throttled := p.SendNumbered(2, 1, 1, nil, 2)
	first := p.Retract(1, 1)
	p.CancelSend(throttled)
	if p.Done(first) || p.Done(throttled) {
		t.Fatal("nobody has answered")
	}
	if got := p.Waits(); len(got) != 2 || got[0].String() != "for rank 1 to say whether a send to it is cancelled" {
		t.Error(got)
	}
	p.Left(1)
	w.nodes[0].crammed = false
	p.Work()
	for _, h := range []Handle{first, throttled} {
		if !p.Done(h) {
			t.Fatal("it still waits")
		}
		if _, err := p.Take(h); err != nil {
			t.Error(err)
		}
	}
	if h := p.Retract(1, 2); h != (Handle{}) {
		t.Error("a rank that has left is asked")
	}
}

// Whatever a peer says of messages that are asked back, nothing breaks: a receive that has its
// message keeps it, and a send ends once.
func FuzzRetracts(f *testing.F) {
	f.Add([]byte{0, 1, 1, 0, 1, 0, 0, 2, 0, 0})
	f.Add([]byte{1, 1, 1, 0, 2, 1, 1, 1, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		w := newTestJob(t, 1, layout.Uniform(2, 1), func(proto.Rank, int) program { return nil })
		p, peer := w.nodes[0].p, w.nodes[1].p
		var sends []Handle
		for number, size := range []int{3, EagerLimit + 1, 4} {
			sends = append(sends, p.SendSynchronous(2, 1, 1, make([]byte, size)))
			peer.SendNumbered(2, 0, 1, make([]byte, size), uint32(number))
		}
		for len(w.links[[2]proto.Proc{1, 0}]) > 0 {
			w.deliver([2]proto.Proc{1, 0})
		}
		received := p.Receive(2, 1, 1, make([]byte, 9))
		for ; len(script) >= 5; script = script[5:] {
			h := wire.Header{Kind: wire.KindRetract, Flags: script[1], ID: uint64(script[2]) | uint64(script[3])<<32, Offset: uint64(script[4]) | uint64(script[3])<<32}
			switch script[0] % 4 {
			case 1:
				h.Kind = wire.KindRetracted
			case 2:
				p.CancelSend(sends[int(script[2])%len(sends)])
				continue
			case 3:
				h = wire.Header{Kind: wire.KindPull, ID: h.ID, Offset: h.Offset, Total: uint64(script[1])}
			}
			p.Frame(1, &h, nil)
			p.Work()
		}
		if s, err := p.Take(received); err != nil || s.Bytes != 3 {
			t.Error(s, err)
		}
		for _, h := range sends {
			if p.Done(h) {
				if _, err := p.Take(h); err != nil && !errors.Is(err, ErrCancelled) {
					t.Error(err)
				}
			}
		}
	})
}
