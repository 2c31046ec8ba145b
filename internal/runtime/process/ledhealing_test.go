package process

import (
	"encoding/binary"
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/state"
)

// talk is gossip in rounds, with a safe point after each: what the program does is decided by
// timing before the first safe point, too. Rounds that follow each other have different contexts,
// or each rank could wait for the others to receive what they receive in the next round.
type talk struct {
	*crew
	rank, ranks   int
	number        int // of threads
	rounds, setUp int
	round         int
	seen          uint64         // a hash of what was seen in earlier rounds
	begun         bool           // threads are ordered, if there are several
	safe          bool           // the first safe point is over
	resting       bool           // between two rounds
	ends          map[int]uint64 // by rank, what its programs have seen at their end
	mistake       string         // "" or one that must be caught
}

const talkEach = 3 // messages of a thread to each other rank, in a round

func newTalk(rank, ranks, threads, rounds, setUp int, ends map[int]uint64, seed uint64) *talk {
	return &talk{
		crew: newCrew(rank, ranks, threads, talkEach, seed), rank: rank, ranks: ranks, number: threads,
		rounds: rounds, setUp: setUp, seen: uint64(rank), ends: ends,
	}
}

func (k *talk) step(p *Process) (finished bool) {
	if !k.begun && k.number > 1 {
		p.OrderThreads()
	}
	k.begun = true
	switch {
	case !p.LogWhole() || k.resting && (p.Donating() || k.safe && !p.Joined()):
	case k.failed() != nil:
		return true
	case k.resting && k.round == k.rounds:
		return true
	case k.resting:
		k.resting = false
		next := newCrew(k.rank, k.ranks, k.number, talkEach, 0)
		next.rng = k.rng
		for _, g := range next.threads {
			g.context = 2 + 2*uint64(k.round%2)
			g.see(k.seen)
		}
		k.crew = next
	case !k.crew.step(p):
	default:
		for _, g := range k.threads {
			k.seen = scatter(k.seen*31 + g.seen)
		}
		k.round++
		k.resting = true
		if k.round >= k.setUp {
			k.safepoint(p)
		}
	}
	return false
}

// safepoint does as engine.Engine.Safepoint.
func (k *talk) safepoint(p *Process) {
	first := !k.safe
	k.safe = true
	switch {
	case first && p.Replaying():
		if err := p.EndReplay(); err != nil {
			p.HealFailed(err)
			return
		}
		var own, library []byte
		p.AwaitState(state.NewDecoder(
			state.Sink{Name: "program", Limit: 100, Load: func(b []byte) error { own = b; return nil }},
			state.Sink{Name: "library", Limit: 1 << 30, Load: func(b []byte) error { library = b; return nil }},
		), func() error {
			k.round, k.seen = int(binary.LittleEndian.Uint64(own)), binary.LittleEndian.Uint64(own[8:])
			return p.Restore(library)
		})
		return
	case first:
		if p.Pending() != nil || p.FreezeLog() != nil {
			panic("something is under way")
		}
		if k.mistake == "no turns in the log" {
			x := &p.order.prefix
			x.record = withoutTurns(x.record)
		}
		p.ReachedSafepoint()
	}
	if p.SafepointWanted() {
		// With output that waits this does nothing: the next safe point may.
		p.Donate(func() (*state.Encoder, error) {
			turns := p.order.turns
			if k.mistake == "no turns in the state" {
				p.order.turns = nil
			}
			library, err := p.Snapshot()
			p.order.turns = turns
			own := binary.LittleEndian.AppendUint64(nil, uint64(k.round))
			own = binary.LittleEndian.AppendUint64(own, k.seen)
			return state.NewEncoder(state.Bytes("program", own), state.Bytes("library", library)), err
		})
	}
}

func (k *talk) wrong() error {
	if other, ended := k.ends[k.rank]; ended && other != k.seen {
		return errors.New("another replica of its rank has seen something else")
	}
	k.ends[k.rank] = k.seen
	return k.failed()
}

func (c *crew) failed() error {
	for _, g := range c.threads {
		if g.err != nil {
			return g.err
		}
	}
	return nil
}

// Replicas of programs that depend on timing are replaced, leaders and others, and die at every
// point of a healing. The live replicas of a rank come to the same end.
func TestLedHealing(t *testing.T) {
	done, failed, together := 0, 0, 0
	seeds(t, func(t *testing.T, seed uint64) {
		layouts := []layout.Layout{layout.Uniform(2, 2), layout.Uniform(3, 2), layout.Uniform(2, 3), layout.Partial([]int{2, 1, 3})}
		l := layouts[seed%4]
		ends := map[int]uint64{}
		w := newLedHealingJob(t, seed, l, seed%5 == 4, func(r proto.Rank) healed {
			return newTalk(int(r), l.Ranks(), 1, 10, 1+int(seed%3), ends, seed)
		})
		w.run(3+int(seed%9), []int{2000, 500}[seed%2])
		done, failed = done+w.healed, failed+w.failed
		if w.together > 1 {
			together++
		}
	})
	t.Logf("%d healed, %d replacements failed; in %d jobs several joined at once", done, failed, together)
	if *seedFlag == 0 && (done < *runsFlag || failed < *runsFlag/2 || together == 0 && *runsFlag >= 200) {
		t.Error("that is too few")
	}
}
