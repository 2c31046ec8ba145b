package comm

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"unsafe"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// model carries out the plans of all members in memory, in a random order. It reports members that
// wait for each other for ever, a message that isn't received or whose size differs from what its
// receiver expects, and memory that is used for two things at a time. It also counts.
type model struct {
	rng *rand.Rand
	// synchronous lets a send end only when its message is received, as with large messages. Else
	// a send ends at once.
	synchronous bool
	members     []modelMember
	channels    map[[2]int][]*transfer // sends not yet matched, by source and destination
}

type modelMember struct {
	steps   []engine.Step
	next    int
	started []*transfer
	time    int // in message times
	sent    int // bytes
	got     int
}

// transfer is a send or receive under way.
type transfer struct {
	member, peer int
	data         []byte
	was          []byte // of a send: what data held at the start
	receive      bool
	done         bool
	time         int // of its start, then of its end
}

// cost is what the busiest member spends: messages one after another, and the larger of bytes sent
// and received.
type cost struct{ rounds, bytes int }

func (m *model) run(plans []*Plan) (cost, error) {
	m.members = make([]modelMember, len(plans))
	m.channels = make(map[[2]int][]*transfer)
	for i, p := range plans {
		if p.err != nil {
			return cost{}, p.err
		}
		m.members[i].steps = p.s.Steps()
	}
	for {
		var able []int
		for i := range m.members {
			if !m.waits(i) {
				able = append(able, i)
			}
		}
		if len(able) == 0 {
			break
		}
		i := able[m.rng.IntN(len(able))]
		if err := m.step(i); err != nil {
			return cost{}, fmt.Errorf("rank %d, step %d: %w", i, m.members[i].next, err)
		}
	}
	var c cost
	for i := range m.members {
		b := &m.members[i]
		if b.next < len(b.steps) {
			return cost{}, fmt.Errorf("rank %d waits for ever in step %d of %d", i, b.next, len(b.steps))
		}
		for _, x := range b.started {
			if !x.done && (x.receive || m.synchronous) {
				return cost{}, fmt.Errorf("rank %d: an operation with %d never ends", i, x.peer)
			}
			b.time = max(b.time, x.time)
		}
		c.rounds, c.bytes = max(c.rounds, b.time), max(c.bytes, b.sent, b.got)
	}
	for ends, queue := range m.channels {
		if len(queue) > 0 {
			return cost{}, fmt.Errorf("%d messages from %d to %d are left over", len(queue), ends[0], ends[1])
		}
	}
	return c, nil
}

// waits tells whether a member can't go on.
func (m *model) waits(i int) bool {
	b := &m.members[i]
	if b.next == len(b.steps) {
		return true
	}
	if st := b.steps[b.next]; st.Kind == engine.StepWait {
		for _, x := range b.started[:st.Count] {
			if !x.done {
				return true
			}
		}
	}
	return false
}

func (m *model) step(i int) error {
	b := &m.members[i]
	st := &b.steps[b.next]
	switch st.Kind {
	case engine.StepWait:
		for _, x := range b.started[:st.Count] {
			b.time = max(b.time, x.time)
		}
	case engine.StepCopy, engine.StepCombine:
		if len(st.Data) != len(st.From) {
			return errors.New("the operands differ in size")
		}
		if err := m.unused(b, st.Data, true); err != nil {
			return err
		}
		if err := m.unused(b, st.From, false); err != nil {
			return err
		}
		st.Do()
	default:
		x := &transfer{member: i, peer: int(st.Peer), data: st.Data, receive: st.Kind == engine.StepReceive, time: b.time}
		if err := m.unused(b, x.data, x.receive); err != nil {
			return err
		}
		b.started = append(b.started, x)
		if x.receive {
			b.got += len(x.data)
			for k := range x.data {
				x.data[k] = 0xEE // no member may rely on what was here
			}
		} else {
			b.sent += len(x.data)
			x.was = bytes.Clone(x.data)
			x.done = !m.synchronous
			ends := [2]int{i, x.peer}
			m.channels[ends] = append(m.channels[ends], x)
		}
		if err := m.match(i, x.peer); err != nil {
			return err
		}
		if err := m.match(x.peer, i); err != nil {
			return err
		}
	}
	b.next++
	return nil
}

// unused tells whether memory may be written, or only read, beside the transfers under way.
func (m *model) unused(b *modelMember, data []byte, write bool) error {
	for _, x := range b.started {
		if !x.done && overlap(x.data, data) && (write || x.receive) {
			return fmt.Errorf("memory of an operation with %d that is under way is used", x.peer)
		}
	}
	return nil
}

func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	at, bt := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return at < bt+uintptr(len(b)) && bt < at+uintptr(len(a))
}

// match brings the messages of a channel and its receives together, in order.
func (m *model) match(from, to int) error {
	ends := [2]int{from, to}
	for _, r := range m.members[to].started {
		if len(m.channels[ends]) == 0 {
			return nil
		}
		if !r.receive || r.done || r.peer != from {
			continue
		}
		s := m.channels[ends][0]
		m.channels[ends] = m.channels[ends][1:]
		if len(s.data) != len(r.data) {
			return fmt.Errorf("%d sends %d bytes, %d expects %d", from, len(s.data), to, len(r.data))
		}
		if m.synchronous && !bytes.Equal(s.data, s.was) {
			return fmt.Errorf("%d changes what it sends to %d", from, to)
		}
		copy(r.data, s.was)
		r.time = s.time + 1
		if m.synchronous {
			r.time = max(s.time, r.time-1) + 1
			s.time = r.time
		}
		s.done, r.done = true, true
	}
	return nil
}

// modelWorld is n members that no engine runs.
func modelWorld(n int) []*Comm {
	group := make([]proto.Rank, n)
	for i := range group {
		group[i] = proto.Rank(i)
	}
	world := make([]*Comm, n)
	for i := range world {
		world[i] = &Comm{group: group, rank: i}
	}
	return world
}

// random bytes.
func random(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// affineSize is the length of an affine map.
const affineSize = 2

// affine composes maps x → a·x + b modulo 251, of two bytes each: associative and not
// commutative, so the order of a reduction shows.
var affine = Op{Size: affineSize, Combiner: Func(func(left, right []byte) {
	for i := 0; i < len(left); i += affineSize {
		a, b := int(left[i]), int(left[i+1])
		left[i], left[i+1] = byte(a*int(right[i])%251), byte((b*int(right[i])+int(right[i+1]))%251)
	}
})}

// maps are random affine maps.
func maps(rng *rand.Rand, n int) []byte {
	b := random(rng, n*affineSize)
	for i := range b {
		b[i] = byte(1 + int(b[i])%250)
	}
	return b
}

// combined is the combination of operands in their order.
func combined(operands [][]byte) []byte {
	acc := slices.Clone(operands[0])
	for _, x := range operands[1:] {
		affine.Combine(acc, x)
	}
	return acc
}
