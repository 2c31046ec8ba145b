package oneworld

import (
	"encoding/binary"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/state"
)

// The program of the job. In each round a rank computes, exchanges a halo with both neighbours on a
// ring, received from any source, and in every third round takes part in an allreduce made of
// messages along the ring. Then it prints a line. It is send-deterministic: sums don't depend on
// the order in which the halo comes.

const worldContext = 2

// programState is what a replacement gets from its donor.
type programState struct {
	round int
	value uint64
	wrote int // bytes of output
}

const stateSize = 24

func (s *programState) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.round))
	b = binary.LittleEndian.AppendUint64(b, s.value)
	return binary.LittleEndian.AppendUint64(b, uint64(s.wrote))
}

func (s *programState) decode(b []byte) error {
	if len(b) != stateSize {
		return fmt.Errorf("a state of %d bytes", len(b))
	}
	s.round, s.value = int(binary.LittleEndian.Uint64(b)), binary.LittleEndian.Uint64(b[8:])
	s.wrote = int(binary.LittleEndian.Uint64(b[16:]))
	return nil
}

// program is one run of it, in one process.
type program struct {
	programState
	rank, ranks, rounds int
	setUp               int // rounds before the first safe point

	stage   int
	safe    bool
	memory  *memory
	pending []process.Handle
	rooms   [][]byte // received into
	lent    [][]byte // being sent
	numbers []uint64 // of received
	err     error
	damage  error // a message isn't what was sent
	total   uint64
}

// Stages of a round.
const (
	atSafepoint = iota
	paused      // until the process may go on
	compute
	exchange
	exchanged
	reduceIn  // the sum of the ranks before
	reduceOut // the sum of all
	printed
)

// does is what a step has come to.
type does uint8

const (
	waits does = iota
	goesOn
	computes
	prints
	finishes
)

// step does one thing, as the engine and a program on it would.
func (c *program) step(p *process.Process) does {
	switch c.stage {
	case atSafepoint:
		return c.safepoint(p)
	case paused:
		switch {
		case p.Donating() || c.safe && !p.Joined() || c.safe && !p.IsNoted():
			return waits
		case c.round == c.rounds:
			return finishes
		}
		c.stage = compute
	case compute:
		c.stage = exchange
		return computes
	case exchange:
		left, right := (c.rank+c.ranks-1)%c.ranks, (c.rank+1)%c.ranks
		c.post(p, proto.AnyRank, tagHalo, haloSize(c.round, c.ranks))
		c.post(p, proto.AnyRank, tagHalo, haloSize(c.round, c.ranks))
		for _, to := range []int{left, right} {
			c.send(p, to, tagHalo, c.value+uint64(to-c.rank+c.ranks)*7, haloSize(c.round, c.ranks))
		}
		c.stage = exchanged
	case exchanged:
		if !c.done(p) {
			return waits
		}
		sum := uint64(0)
		for _, x := range c.received() {
			sum += x
		}
		c.value = mix(c.value, sum, c.round)
		c.stage = printed
		if c.round%3 == 2 {
			c.stage = reduceIn
			if c.total = c.value; c.rank > 0 {
				c.post(p, proto.Rank(c.rank-1), tagReduce, 8)
			}
		}
	case reduceIn:
		if !c.done(p) {
			return waits
		}
		for _, x := range c.received() {
			c.total += x
		}
		c.stage = reduceOut
		if c.rank < c.ranks-1 {
			c.send(p, c.rank+1, tagReduce, c.total, 8)
			c.post(p, proto.Rank(c.rank+1), tagTotal, 8)
		}
	case reduceOut:
		if !c.done(p) {
			return waits
		}
		for _, x := range c.received() {
			c.total = x
		}
		if c.rank > 0 {
			c.send(p, c.rank-1, tagTotal, c.total, 8)
		}
		c.value ^= c.total
		c.stage = printed
	case printed:
		if !c.done(p) {
			return waits
		}
		c.round, c.stage = c.round+1, atSafepoint
		return prints
	}
	return goesOn
}

// Tags of messages.
const (
	tagHalo int32 = iota
	tagReduce
	tagTotal
)

// haloSize is the length of a round's messages: some are offered first, since they are large.
func haloSize(round, ranks int) int {
	return []int{8, 8, 5000, 8, process.EagerLimit + 8}[(round+ranks)%5]
}

func mix(own, got uint64, round int) uint64 {
	return own*0x9e3779b97f4a7c15 + got*3 + uint64(round)
}

func (c *program) post(p *process.Process, from proto.Rank, tag int32, size int) {
	room := c.memory.get(size)
	clear(room[size-8:])
	c.rooms = append(c.rooms, room)
	c.pending = append(c.pending, p.Receive(worldContext, from, tag+int32(c.round)*8, room))
}

func (c *program) send(p *process.Process, to int, tag int32, value uint64, size int) {
	data := c.memory.get(size)
	binary.LittleEndian.PutUint64(data, value)
	binary.LittleEndian.PutUint64(data[size-8:], value)
	c.lent = append(c.lent, data)
	if h := p.Send(worldContext, proto.Rank(to), tag+int32(c.round)*8, data); h != (process.Handle{}) {
		c.pending = append(c.pending, h)
	}
}

// received gives the numbers that have come, in the order of the receives.
func (c *program) received() []uint64 {
	all := c.numbers[:0]
	for _, room := range c.rooms {
		x := binary.LittleEndian.Uint64(room)
		if y := binary.LittleEndian.Uint64(room[len(room)-8:]); x != y {
			c.damage = fmt.Errorf("a message of %d bytes begins with %x and ends with %x", len(room), x, y)
		}
		all = append(all, x)
		c.memory.put(room)
	}
	c.rooms, c.numbers = c.rooms[:0], all
	return all
}

// done says whether all operations under way have ended. An error ends the program.
func (c *program) done(p *process.Process) bool {
	for _, h := range c.pending {
		if !p.Done(h) {
			return false
		}
	}
	for _, h := range c.pending {
		if _, err := p.Take(h); err != nil && c.err == nil {
			c.err = err
		}
	}
	c.pending = c.pending[:0]
	for _, data := range c.lent {
		c.memory.put(data)
	}
	c.lent = c.lent[:0]
	return c.err == nil
}

// safepoint is what engine.Engine.Safepoint does.
func (c *program) safepoint(p *process.Process) does {
	switch {
	case !p.LogWhole():
		return waits
	case c.round < c.setUp:
	case !c.safe && p.Replaying():
		if err := p.EndReplay(); err != nil {
			p.HealFailed(err)
			return waits
		}
		var own, library []byte
		p.AwaitState(state.NewDecoder(
			state.Sink{Name: "program", Limit: stateSize, Load: func(b []byte) error { own = b; return nil }},
			state.Sink{Name: "library", Limit: 1 << 30, Load: func(b []byte) error { library = b; return nil }},
		), func() error {
			if err := c.decode(own); err != nil {
				return err
			}
			return p.Restore(library)
		})
		c.safe = true
	case !c.safe:
		if err := p.Pending(); err != nil {
			c.err = err
			return waits
		}
		if err := p.FreezeLog(); err != nil {
			c.err = err
			return waits
		}
		p.ReachedSafepoint()
		c.safe = true
	}
	if c.safe && p.SafepointWanted() {
		p.Donate(func() (*state.Encoder, error) {
			library, err := p.Snapshot()
			return state.NewEncoder(state.Bytes("program", c.encode()), state.Bytes("library", library)), err
		})
	}
	c.stage = paused
	return goesOn
}

// line is what a rank prints at the end of a round.
func line(rank, round int, value uint64) string {
	return fmt.Sprintf("rank %d: round %d: %016x\n", rank, round, value)
}

// undisturbed is the output of each rank if nothing goes wrong, by arithmetic.
func undisturbed(ranks, rounds int) []string {
	values, out := make([]uint64, ranks), make([]string, ranks)
	for r := range values {
		values[r] = uint64(r) + 1
	}
	for round := range rounds {
		sums := make([]uint64, ranks)
		for r := range values {
			left, right := (r+ranks-1)%ranks, (r+1)%ranks
			for _, to := range []int{left, right} {
				sums[to] += values[r] + uint64(to-r+ranks)*7
			}
		}
		total := uint64(0)
		for r := range values {
			values[r] = mix(values[r], sums[r], round)
			total += values[r]
		}
		for r := range values {
			if round%3 == 2 {
				values[r] ^= total
			}
			out[r] += line(r, round, values[r])
		}
	}
	return out
}
