package process

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/state"
)

// courier is a program with safe points. In each round it sends its value to the next rank,
// sometimes in a large message, and adds what comes from the rank before, received from any
// source.
type courier struct {
	rank, ranks, rounds int
	setUp               int  // rounds before the first safe point
	named               bool // it receives from a named source

	round int
	value uint64
	at    int // in the round
	safe  bool
	out   Handle
	in    Handle
	room  []byte
}

// step does one thing, as engine.Engine.Safepoint and its callers would.
func (c *courier) step(p *Process) (finished bool) {
	switch {
	case !p.LogWhole():
	case c.at == 0 && c.round >= c.setUp && !c.safe && p.Replaying():
		if err := p.EndReplay(); err != nil {
			p.HealFailed(err)
			return false
		}
		var own, library []byte
		p.AwaitState(state.NewDecoder(
			state.Sink{Name: "program", Limit: 100, Load: func(b []byte) error { own = b; return nil }},
			state.Sink{Name: "library", Limit: 1 << 30, Load: func(b []byte) error { library = b; return nil }},
		), func() error {
			c.round, c.value = int(binary.LittleEndian.Uint64(own)), binary.LittleEndian.Uint64(own[8:])
			return p.Restore(library)
		})
		c.safe, c.at = true, 1
	case c.at == 0 && c.round >= c.setUp:
		if !c.safe {
			if p.Pending() != nil || p.FreezeLog() != nil {
				panic("something is under way")
			}
			p.ReachedSafepoint()
			c.safe = true
		}
		if p.SafepointWanted() {
			p.Donate(func() (*state.Encoder, error) {
				library, err := p.Snapshot()
				own := binary.LittleEndian.AppendUint64(nil, uint64(c.round))
				own = binary.LittleEndian.AppendUint64(own, c.value)
				return state.NewEncoder(state.Bytes("program", own), state.Bytes("library", library)), err
			})
		}
		c.at = 1
	case c.at == 0: // no safe point yet
		c.at = 1
	case c.at == 1 && (p.Donating() || c.safe && !p.Joined()):
	case c.at == 1 && c.round == c.rounds:
		return true
	case c.at == 1:
		c.room = make([]byte, c.length()+8)
		src := proto.AnyRank
		if c.named {
			src = proto.Rank((c.rank + c.ranks - 1) % c.ranks)
		}
		c.in = p.Receive(2, src, int32(c.round), c.room)
		message := make([]byte, c.length())
		binary.LittleEndian.PutUint64(message, c.value)
		c.out = p.Send(2, proto.Rank((c.rank+1)%c.ranks), int32(c.round), message)
		c.at = 2
	case c.at == 2 && p.Done(c.in):
		s, err := p.Take(c.in)
		if err != nil || s.Bytes != c.length() {
			panic(fmt.Sprint(s, err))
		}
		c.value = next(c.value, binary.LittleEndian.Uint64(c.room), c.round)
		c.at = 3
	case c.at == 3 && p.Done(c.out):
		if _, err := p.Take(c.out); err != nil {
			panic(err)
		}
		c.round, c.at = c.round+1, 0
	}
	return false
}

func (c *courier) wrong() error {
	if want := expected(c); c.value != want {
		return fmt.Errorf("it ends with %d, want %d", c.value, want)
	}
	return nil
}

// length is that of a round's messages.
func (c *courier) length() int { return []int{8, 5000, EagerLimit + 1}[c.round%3] }

func next(own, got uint64, round int) uint64 { return own*3 + got + uint64(round) }

// expected is what a rank ends with if nothing goes wrong.
func expected(c *courier) uint64 {
	values := make([]uint64, c.ranks)
	for r := range values {
		values[r] = uint64(r)
	}
	for round := range c.rounds {
		was := slices.Clone(values)
		for r := range values {
			values[r] = next(was[r], was[(r+c.ranks-1)%c.ranks], round)
		}
	}
	return values[c.rank]
}

// Processes die at any time, replacements and donors at every point of a healing above all, as
// long as each rank keeps a replica. All that are left come to the same end.
func TestHealing(t *testing.T) {
	seeds := 300
	if testing.Short() {
		seeds = 40
	}
	healed, failed, givenUp, together := 0, 0, 0, 0
	for seed := range uint64(seeds) {
		layouts := []layout.Layout{layout.Uniform(2, 2), layout.Uniform(3, 2), layout.Uniform(2, 3), layout.Partial([]int{2, 1, 3})}
		layout := layouts[seed%4]
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newHealingJob(t, seed, layout, seed%5 == 4, func(r proto.Rank) *courier {
				return &courier{rank: int(r), ranks: layout.Ranks(), rounds: 12, setUp: int(seed % 3), value: uint64(r)}
			})
			if seed%2 == 0 {
				w.run(1+int(seed%6), 300)
			} else {
				w.run(3+int(seed%9), 80)
			}
			healed, failed, givenUp = healed+w.healed, failed+w.failed, givenUp+w.givenUp
			if w.together > 1 {
				together++
			}
		})
	}
	t.Logf("%d healed, %d replacements failed, %d were given up; in %d jobs several joined at once", healed, failed, givenUp, together)
	if healed < seeds/2 || failed < seeds/2 || givenUp == 0 || together < seeds/20 {
		t.Error("that is too few")
	}
}
