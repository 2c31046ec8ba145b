package broadcast

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// machine is what a world drives: a Config, or one with a known bug.
type machine interface {
	Start(s *State, self int)
	Receive(s *State, from int, kind Kind) bool
	SendReady(s *State, now proto.Time) (to int, kind Kind, ok bool)
}

// world is a broadcast under way: any message may arrive next, any process may send next. Some
// processes are dead from the start, others may crash at any point: a process that has
// something to send then doesn't send it, nor anything after it. A crash of a process that has
// nothing to send would make no difference. world implements explore.World.
type world struct {
	config  *Config
	machine machine
	dead    func(p int) bool
	covered bool // every live process must be coloured
	reduce  bool // leave out events that make no difference
	lazy    bool // messages arrive when they matter, and in any order
	onEnd   func(*world)
	crashes int // how many more may crash

	now      proto.Time // 0, or CorrectAt
	states   []State
	channels []channel // that hold messages, by sender and receiver
	sent     []count
	crashed  uint64 // one bit for each of the first 64 processes
}

// channel is the messages from one process to another.
type channel struct {
	from, to int32
	kinds    []Kind
}

// count is what a process has sent.
type count struct{ tree, corrections, acks int16 }

// event is a step of a world. A message of some kind from one process arrives at another; where
// the two are the same process, it sends. clock is the start of synchronised correction.
type event struct {
	from, to int32
	kind     Kind
}

var clock = event{from: -1, to: -1}

// Events of a process with itself: it sends; it crashes instead; it sends when its delay is
// over, at any time.
const (
	isReady Kind = iota
	isCrash
	isLate
)

// late is after any delay of a test.
const late = 10

func (e event) String() string {
	switch {
	case e == clock:
		return "clock"
	case e.from == e.to:
		return fmt.Sprint(e.from, [...]string{"", " crashes", " is late"}[e.kind])
	}
	return fmt.Sprintf("%d>%d:%v", e.from, e.to, e.kind)
}

func newWorld(c *Config, m machine, dead func(p int) bool, covered bool) *world {
	procs := c.Tree.Procs()
	w := &world{
		config: c, machine: m, dead: dead, covered: covered,
		states: make([]State, procs), sent: make([]count, procs),
	}
	for p := range w.states {
		m.Start(&w.states[p], p)
	}
	return w
}

func (w *world) Clone() *world {
	v := *w
	v.states = slices.Clone(w.states)
	v.sent = slices.Clone(w.sent)
	v.channels = slices.Clone(w.channels)
	for i := range v.channels {
		v.channels[i].kinds = slices.Clone(v.channels[i].kinds)
	}
	return &v
}

// Events gives the arrivals in the order of their channels, then all sends that a process could
// make, then the clock.
//
// With reduce it leaves out what makes no difference: if every other event has the same effect
// before and after a certain event, that event alone is enough.
func (w *world) Events(dst []event) []event {
	for i := range w.channels {
		c := &w.channels[i]
		for _, kind := range c.kinds {
			e := event{c.from, c.to, kind}
			if w.lazy {
				if w.matters(e) {
					dst = append(dst, e)
				}
				continue
			}
			if w.reduce && w.idle(e) {
				return append(dst[:0], e)
			}
			dst = append(dst, e)
			break // the others come after it
		}
	}
	for p, s := range w.states {
		if w.gone(p) {
			continue
		}
		if w.config.Correction == Delayed && w.now >= w.config.CorrectAt {
			_, _, now := w.machine.SendReady(&s, w.now)
			s = w.states[p]
			_, _, then := w.machine.SendReady(&s, w.now+late)
			if s = w.states[p]; then && !now {
				dst = append(dst, event{int32(p), int32(p), isLate})
			}
		}
		to, kind, ok := w.machine.SendReady(&s, w.now)
		if !ok && s == w.states[p] {
			continue
		}
		e := event{from: int32(p), to: int32(p)}
		if ok && w.crashes > 0 {
			dst = append(dst, event{int32(p), int32(p), isCrash})
		} else if w.reduce && w.takesAway() && w.config.Correction != Ordered {
			if heard, heardKind, heardOK := w.deaf(p); ok && heardOK && to == heard && kind == heardKind {
				return append(dst[:0], e)
			}
		}
		dst = append(dst, e)
	}
	if w.now < w.config.CorrectAt {
		dst = append(dst, clock)
	}
	return dst
}

// takesAway says whether an arrival can only make a coloured process send less than it would
// otherwise.
func (w *world) takesAway() bool {
	return w.config.Correction != Delayed && w.config.Correction != FailureProof && !w.config.Gossip.enabled()
}

// gone says whether a process is dead or has crashed.
func (w *world) gone(p int) bool { return w.crashed>>p&1 != 0 || w.dead(p) }

// matters says whether a message would now change what its receiver sends next, or colour it.
// In a lazy world messages arrive only then. Earlier they would have made no difference, and
// now they make the same one. An arrival doesn't take the message away, since a second one
// would make no difference.
func (w *world) matters(e event) bool {
	was, is := w.states[e.to], w.states[e.to]
	w.machine.Receive(&is, int(e.from), e.kind)
	if is.Coloured() != was.Coloured() {
		return true
	}
	to, kind, ok := w.machine.SendReady(&was, w.now)
	newTo, newKind, newOK := w.machine.SendReady(&is, w.now)
	return to != newTo || kind != newKind || ok != newOK
}

// idle says whether a message will never make a difference. A machine doesn't forget what
// messages have taught it, so a message that teaches it nothing now never will.
func (w *world) idle(e event) bool {
	s := w.states[e.to]
	w.machine.Receive(&s, int(e.from), e.kind)
	return s == w.states[e.to] || w.finished(e.to)
}

// deaf returns what a process would send next if it had received all that it can ever receive.
// A machine doesn't forget what messages have taught it, and each message only takes
// corrections away. So if the process would send the same now, no message can change it. (With
// ordered correction what it can be taught depends on what it has sent.)
func (w *world) deaf(p int) (to int, kind Kind, ok bool) {
	s := w.states[p]
	procs := len(w.states)
	if w.config.Correction.Corrects() && procs > 1 {
		left, right := w.config.reach()
		for d := range int(left) {
			w.machine.Receive(&s, (p+1+d)%procs, KindLeft)
		}
		for d := range int(right) {
			w.machine.Receive(&s, (p+procs-1-d)%procs, KindRight)
		}
		if !w.config.Correction.HasDistance() {
			w.machine.Receive(&s, (p+1)%procs, KindLeft)
			w.machine.Receive(&s, (p+procs-1)%procs, KindRight)
		}
	}
	if p > 0 {
		w.machine.Receive(&s, w.config.Tree.Parent(p), KindTree)
	}
	return w.machine.SendReady(&s, w.now)
}

// finished says whether a process will never send again, whatever it receives.
func (w *world) finished(p int32) bool {
	s := w.states[p]
	if !s.Coloured() || w.now < w.config.CorrectAt || w.config.Correction == Acknowledged || !w.takesAway() {
		return false
	}
	_, _, ok := w.machine.SendReady(&s, w.now)
	_, _, heardOK := w.deaf(int(p))
	return !ok && !heardOK
}

var (
	errColour      = errors.New("coloured twice, or not by the first message")
	errUncoloured  = errors.New("sent without having the message")
	errDestination = errors.New("sent to nobody, or to itself")
	errTree        = errors.New("sent to somebody who is no child")
	errGossip      = errors.New("gossiped for longer than there are rounds")
	errCorrections = errors.New("sent more corrections than there are processes")
	errAck         = errors.New("acknowledged twice, or before its children")
	errUnreached   = errors.New("a live process was never coloured")
	errDone        = errors.New("the root is wrong about everybody having the message")
)

func (w *world) Apply(e event) error {
	switch {
	case e == clock:
		w.now = w.config.CorrectAt
		return nil
	case e.from == e.to && e.kind == isCrash:
		w.crash(e.from)
		return nil
	case e.from == e.to:
		return w.send(e.from, e.kind == isLate)
	}
	if !w.lazy {
		i, _ := w.channel(e.from, e.to)
		c := &w.channels[i]
		if c.kinds = c.kinds[1:]; len(c.kinds) == 0 {
			w.channels = slices.Delete(w.channels, i, i+1)
		}
	}
	s := &w.states[e.to]
	first := !s.Coloured() && e.kind != KindAck
	if w.machine.Receive(s, int(e.from), e.kind) != first {
		return errColour
	}
	return nil
}

// channel finds a channel, or the index at which to insert it.
func (w *world) channel(from, to int32) (i int, found bool) {
	return slices.BinarySearchFunc(w.channels, channel{from: from, to: to}, func(c, d channel) int {
		return cmp.Or(cmp.Compare(c.from, d.from), cmp.Compare(c.to, d.to))
	})
}

// crash ends a process. The messages that it has sent still arrive.
func (w *world) crash(p int32) {
	w.crashes--
	w.crashed |= 1 << p
	w.channels = slices.DeleteFunc(w.channels, func(c channel) bool { return c.to == p })
}

func (w *world) send(p int32, isLate bool) error {
	s := &w.states[p]
	now := w.now
	if isLate {
		now += late
	}
	to, kind, ok := w.machine.SendReady(s, now)
	if !ok {
		return nil
	}
	switch {
	case !s.Coloured():
		return errUncoloured
	case to < 0 || to >= len(w.states) || to == int(p):
		return errDestination
	}
	sent := &w.sent[p]
	switch kind.Base() {
	case KindGossip:
		if sent.tree++; int(sent.tree) > w.config.Gossip.Rounds {
			return errGossip
		}
	case KindTree:
		sent.tree++
		if children := w.config.Tree.AppendChildren(nil, int(p)); int(sent.tree) > len(children) || children[sent.tree-1] != to {
			return errTree
		}
	case KindAck:
		if sent.acks++; sent.acks > 1 || to != w.config.Tree.Parent(int(p)) || s.count != 0 {
			return errAck
		}
	default:
		most := len(w.states)
		if w.config.Correction == Delayed || w.config.Correction == FailureProof {
			most *= 2 // together with the answers
		}
		if sent.corrections++; int(sent.corrections) > most {
			return errCorrections
		}
	}
	if w.gone(to) {
		return nil
	}
	i, found := w.channel(p, int32(to))
	if !found {
		w.channels = slices.Insert(w.channels, i, channel{from: p, to: int32(to)})
	}
	w.channels[i].kinds = append(w.channels[i].kinds, kind)
	return nil
}

func (w *world) End() error {
	if w.onEnd != nil {
		w.onEnd(w)
	}
	deaths, known := false, false
	for p, s := range w.states {
		deaths = deaths || w.gone(p)
		known = known || !w.gone(p) && s.Coloured()
	}
	for p := range w.states {
		if w.covered && known && !w.gone(p) && !w.states[p].Coloured() {
			return fmt.Errorf("%w: %d", errUnreached, p)
		}
	}
	switch {
	case w.config.Correction == Acknowledged && w.states[0].Done() == deaths:
		return errDone
	case w.config.Correction.HasDistance() && w.config.Correction != Optimised:
		return w.checkGaps()
	}
	return nil
}

// checkGaps checks that every process within reach of a correcting process has been reached.
// The same holds for every process in a gap, which is a run of at most the sum of both
// distances of processes that don't correct.
func (w *world) checkGaps() error {
	left, right := w.config.reach()
	procs := int32(len(w.states))
	for p := range procs {
		if w.gone(int(p)) || w.states[p].Coloured() {
			continue
		}
		for d := int32(1); d <= max(left, right); d++ {
			above, below := &w.states[(p+d)%procs], &w.states[(p-d+procs)%procs]
			if d <= left && above.is(flagParticipant) || d <= right && below.is(flagParticipant) {
				return fmt.Errorf("%w: %d, though somebody %d away corrects", errUnreached, p, d)
			}
		}
	}
	return nil
}

// AppendKey describes worlds of up to 255 processes. The messages that a process has sent say
// which of its children comes next. In a lazy world the messages under way are those that were
// sent, and a process that has heard of another has stopped.
func (w *world) AppendKey(dst []byte) []byte {
	dst = append(dst, byte(w.now), byte(w.crashed), byte(w.crashes))
	for p, s := range w.states {
		if w.lazy {
			s.heardLeft, s.heardRight = min(s.heardLeft, 1), min(s.heardRight, 1)
			if !s.is(flagParticipant) {
				s.heardLeft, s.heardRight = 0, 0
			}
		}
		dst = append(dst, byte(s.sentLeft), byte(s.sentRight), byte(s.heardLeft), byte(s.heardRight),
			byte(s.count), byte(s.due), byte(s.flags), s.generation, byte(w.sent[p].tree), byte(w.sent[p].corrections))
	}
	if w.lazy {
		return dst
	}
	for _, c := range w.channels {
		dst = append(dst, byte(c.from), byte(c.to), byte(len(c.kinds)))
		for _, k := range c.kinds {
			dst = append(dst, byte(k))
		}
	}
	return dst
}

func mustTree(tree topology.Tree, err error) topology.Tree {
	if err != nil {
		panic(err)
	}
	return tree
}
