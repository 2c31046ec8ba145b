package broadcast

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/testing/network"
)

// streamWorld is the members of a communicator and everything between them, under a random
// schedule. Any frame may be late by any time, but frames of one pair don't overtake each
// other. A member may stop for long, or die; each of the others learns of a death at any later
// time.
type streamWorld struct {
	rng     *rand.Rand
	now     proto.Time
	cfg     StreamConfig
	roots   []int // of broadcast 1, 2, …
	sizes   []int // of their payloads in bytes
	ahead   int   // how many broadcasts a program may have outstanding
	members []*streamMember
	network network.Network[Frame]
	sent    [FrameReport + 1]int
	slow    int  // members that are rarely scheduled
	bare    bool // frames don't carry Stable
	shaped  bool // some trees are chains or stars
	named   bool // all trees are the named scheme's
	untold  bool // nobody learns of deaths
	chatty  bool // beside the frames, members tell each other what they have completed
	problem string

	// Canaries: known bugs, put in.
	lose     func(Frame) bool    // the network loses such frames
	sabotage func(*streamMember) // after every step
}

type streamMember struct {
	*Stream
	self    int
	out     StreamActions
	dead    bool
	stopped bool
	started int // by the program
	budget  int // frames until it dies; negative: it doesn't
	outcome []outcome
	open    int            // started and not handed up
	held    map[*byte]bool // payloads that the stream owns
	most    int            // of them at any time
	unheard []int          // members whose end it will be told of
}

type outcome uint8

const (
	nothing outcome = iota
	gotIt
	gotError
)

func newStreamWorld(cfg StreamConfig, seed uint64) *streamWorld {
	w := &streamWorld{
		rng: rand.New(rand.NewPCG(seed, 7)), cfg: cfg, ahead: 1,
		network: network.New[Frame](cfg.Size),
	}
	for i := range cfg.Size {
		cfg.Self = i
		w.members = append(w.members, &streamMember{
			Stream: NewStream(cfg), self: i, budget: -1, held: map[*byte]bool{},
		})
	}
	return w
}

// add appends a broadcast to the program.
func (w *streamWorld) add(root, size int) {
	w.roots, w.sizes = append(w.roots, root), append(w.sizes, size)
	for _, m := range w.members {
		m.outcome = append(m.outcome, nothing)
	}
}

func (w *streamWorld) fail(format string, args ...any) {
	if w.problem == "" {
		w.problem = fmt.Sprintf(format, args...)
	}
}

// content gives the payload of a number, and only of that.
func (w *streamWorld) content(number int) []byte {
	size := w.sizes[number-1]
	if size == 0 {
		return nil
	}
	p := make([]byte, size)
	binary.LittleEndian.PutUint32(p, uint32(number))
	return p
}

// run performs all possible events, in random order, until none is left.
func (w *streamWorld) run() { w.runUntil(proto.Never) }

// runUntil is run, up to a time.
func (w *streamWorld) runUntil(end proto.Time) {
	for range 3_000_000 {
		if w.problem != "" {
			return
		}
		first, acted := w.rng.IntN(w.cfg.Size), false
		if first < w.slow && w.rng.IntN(20) != 0 {
			first = w.rng.IntN(w.cfg.Size)
		}
		for i := 0; i < w.cfg.Size && !acted; i++ {
			acted = w.act(w.members[(first+i)%w.cfg.Size])
		}
		if acted {
			continue
		}
		deadline := proto.Never
		for _, m := range w.members {
			if !m.dead && !m.stopped {
				deadline = min(deadline, m.Deadline())
			}
		}
		if deadline >= end {
			return
		}
		w.now = max(w.now, deadline)
		for _, m := range w.members {
			w.step(m, func() { m.Tick(w.now, &m.out) })
		}
	}
	w.fail("it doesn't come to rest")
}

// act lets a member do one thing, if it has anything to do.
func (w *streamWorld) act(m *streamMember) bool {
	if m.dead || m.stopped {
		return false
	}
	const things = 5
	first := w.rng.IntN(things)
	for i := range things {
		acted := false
		switch (first + i) % things {
		case 0:
			w.step(m, func() { acted = m.SendReady(w.now, &m.out) })
		case 1, 2:
			acted = w.deliver(m)
		case 3:
			acted = w.start(m)
		case 4:
			acted = w.rng.IntN(8) == 0 && w.hear(m)
			if w.chatty && w.rng.IntN(4) == 0 && w.tell(m) {
				acted = true
			}
		}
		if acted {
			w.now += proto.Time(w.rng.IntN(2))
			return true
		}
	}
	return w.hear(m)
}

// deliver hands over a frame from some member.
func (w *streamWorld) deliver(m *streamMember) bool {
	first := w.rng.IntN(w.cfg.Size)
	for i := range w.cfg.Size {
		from := (first + i) % w.cfg.Size
		if len(w.network.Queue(from, m.self)) == 0 {
			continue
		}
		f := w.network.Receive(from, m.self)
		m.own(f.Payload)
		w.step(m, func() { m.Receive(w.now, from, f, &m.out) })
		return true
	}
	return false
}

// start lets the program go on to its next broadcast.
func (w *streamWorld) start(m *streamMember) bool {
	if m.started == len(w.roots) || m.open >= w.ahead {
		return false
	}
	root := w.roots[m.started]
	var payload []byte
	if root == m.self {
		if idle := m.Idle(); !m.MayStart() {
			return idle && !m.Idle() // it asks for room now
		}
		payload = w.content(m.started + 1)
		m.own(payload)
	}
	m.started++
	m.open++
	w.step(m, func() {
		if n := m.StartAs(w.now, root, w.shape(m.started), payload, &m.out); n != uint64(m.started) {
			w.fail("member %d started %d as %d", m.self, m.started, n)
		}
	})
	return true
}

// shape is the tree of a broadcast's number. If shapes vary, one in four is a chain and another
// one in four a star.
func (w *streamWorld) shape(number int) Shape {
	switch {
	case w.named:
		return Named
	case w.shaped && number%4 == 0:
		return Chain
	case w.shaped && number%4 == 2:
		return Star
	}
	return Shallow
}

// tell lets a member hear what another has completed, and says whether that made room.
func (w *streamWorld) tell(m *streamMember) bool {
	from := w.members[w.rng.IntN(w.cfg.Size)]
	if from == m || from.dead {
		return false
	}
	before := m.stable
	w.step(m, func() { m.Heard(w.now, from.self, from.Completed(), &m.out) })
	return m.stable > before
}

// hear tells a member of the end of another.
func (w *streamWorld) hear(m *streamMember) bool {
	if len(m.unheard) == 0 {
		return false
	}
	i := w.rng.IntN(len(m.unheard))
	gone := m.unheard[i]
	m.unheard = append(m.unheard[:i], m.unheard[i+1:]...)
	w.step(m, func() { m.Dead(w.now, gone, &m.out) })
	return true
}

// kill ends a member. All the frames that it sent still arrive, or only some of them.
func (w *streamWorld) kill(m *streamMember) {
	m.dead = true
	for _, o := range w.members {
		if o == m {
			continue
		}
		if !w.untold {
			o.unheard = append(o.unheard, m.self)
		}
		if n := len(w.network.Queue(m.self, o.self)); n > 0 && w.rng.IntN(3) == 0 {
			w.network.Keep(m.self, o.self, w.rng.IntN(n))
		}
	}
	w.network.Deafen(m.self)
}

// step lets a member act, and carries out what it asks for.
func (w *streamWorld) step(m *streamMember, act func()) {
	if m.dead || m.stopped {
		return
	}
	act()
	for i := range m.out {
		w.carryOut(m, &m.out[i])
	}
	m.out = m.out[:0]
	m.most = max(m.most, len(m.held))
	if w.sabotage != nil {
		w.sabotage(m)
	}
}

func (w *streamWorld) carryOut(m *streamMember, a *StreamAction) {
	if m.dead {
		return // in the middle of the actions
	}
	n := a.Frame.Number
	switch a.Kind {
	case SendFrame:
		if m.budget == 0 {
			w.kill(m)
			return
		}
		m.budget--
		w.sent[a.Frame.Kind]++
		if o := w.members[a.To]; o == m {
			w.fail("member %d sent to itself: %+v", m.self, a.Frame)
		} else if f := a.Frame; !o.dead && (w.lose == nil || !w.lose(f)) {
			f.Payload = bytes.Clone(f.Payload)
			if w.bare {
				f.Stable = 0
			}
			w.network.Send(m.self, a.To, f)
		}
	case Coloured, Failed:
		if n == 0 || n > uint64(m.started) || m.outcome[n-1] != nothing {
			w.fail("member %d: %d handed up with %d started, before: %d", m.self, n, m.started, m.outcome)
			return
		}
		m.open--
		if m.outcome[n-1] = gotError; a.Kind == Coloured {
			m.outcome[n-1] = gotIt
			if !bytes.Equal(a.Frame.Payload, w.content(int(n))) {
				w.fail("member %d: wrong payload of %d", m.self, n)
			}
		} else if a.To != w.roots[n-1] || !w.members[a.To].dead {
			w.fail("member %d: %d failed for the death of %d", m.self, n, a.To)
		}
	case Recycle:
		if p := &a.Frame.Payload[:1][0]; !m.held[p] {
			w.fail("member %d recycles what it doesn't have", m.self)
		} else {
			delete(m.held, p)
		}
	}
}

func (m *streamMember) own(payload []byte) {
	if payload != nil {
		m.held[&payload[:1][0]] = true
	}
}

// check fails unless all live members are at rest, have all broadcasts of live roots, and agree
// on the broadcasts of dead ones.
func (w *streamWorld) check() {
	for _, m := range w.members {
		if m.dead {
			continue
		}
		if m.started != len(w.roots) || !m.Idle() || m.Deadline() != proto.Never {
			w.fail("member %d is at rest with %d of %d started, idle %t", m.self, m.started, len(w.roots), m.Idle())
		}
		for i, o := range m.outcome {
			if o == nothing {
				w.fail("member %d waits for %d of root %d (dead %t) for ever", m.self, i+1, w.roots[i], w.members[w.roots[i]].dead)
			}
			for _, other := range w.members {
				if !other.dead && other.outcome[i] != nothing && other.outcome[i] != o {
					w.fail("members %d and %d disagree on %d", m.self, other.self, i+1)
				}
			}
		}
		// One payload may come while the window is full.
		if m.most > w.members[0].cfg.Window+1 {
			w.fail("member %d held %d payloads, window %d", m.self, m.most, w.members[0].cfg.Window)
		}
	}
}
