package steward

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

const sec proto.Time = 1_000_000

// end checks how a run has ended: every agent that lives is over.
func (w *world) end() error {
	for _, n := range w.nodes {
		if n.agent != nil && !n.dead && !n.agent.over {
			return fmt.Errorf("%v isn't over at the end (lease %v, steward %v)", n.agent, n.agent.lease.held, n.agent.Leads())
		}
	}
	return nil
}

// goesOn checks that the job finished on each live host, if a quorum of the last voters lives.
func (w *world) goesOn() error {
	e := &w.durable.Electorate
	alive := func(v Voter) bool {
		return !w.nodes[v.Host].dead && (v.Witness || w.nodes[v.Host].agent.outcome.Reason != NoMajority)
	}
	if !e.Quorum(alive) {
		return nil
	}
	for _, n := range w.nodes {
		if n.agent != nil && !n.dead && n.agent.outcome.Reason != Finished && n.agent.outcome.Reason != NoMajority {
			return fmt.Errorf("%v is over, because of %v, though a quorum lives", n.agent, n.agent.outcome.Reason)
		}
	}
	for _, v := range e.Voters {
		if alive(v) && !v.Witness && w.nodes[v.Host].agent.outcome.Reason != Finished {
			return fmt.Errorf("voter %d hasn't finished", v.Host)
		}
	}
	return nil
}

func play(s setting, seed uint64, faults []fault, heal proto.Time) error {
	w := newWorld(s, seed)
	for _, f := range faults {
		w.strike(f)
	}
	w.finish = heal + 15*sec
	if err := w.run(w.finish + 60*sec); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	return w.goesOn()
}

// TestUndisturbed: without faults the first steward stays, nothing is lost, and the job finishes.
func TestUndisturbed(t *testing.T) {
	for hosts := 1; hosts <= 12; hosts++ {
		for _, witness := range []bool{false, true} {
			s := setting{hosts: hosts, witness: witness, procs: 2 * hosts, drift: 1000}
			w := newWorld(s, uint64(hosts))
			w.finish = 20 * sec
			if err := w.run(30 * sec); err != nil {
				t.Fatal(err)
			}
			if err := w.end(); err != nil {
				t.Fatal(hosts, witness, err)
			}
			if len(w.led) != 1 || len(w.lostAt) != 0 || w.spawned != 0 {
				t.Errorf("%d hosts: terms %v, lost %v, %d started", hosts, w.led, w.lostAt, w.spawned)
			}
			if err := w.goesOn(); err != nil {
				t.Error(hosts, witness, err)
			}
		}
	}
}

// randomFaults draws faults within a minute.
func randomFaults(random *rand.Rand, parties, n int) []fault {
	var list []fault
	kills := 0
	for range n {
		at := proto.Time(random.Int64N(int64(60 * sec)))
		span := proto.Time(random.Int64N(int64(12 * sec)))
		if random.IntN(4) == 0 {
			span = proto.Time(random.Int64N(int64(2 * sec)))
		}
		f := fault{kind: faultKind(random.IntN(6)), at: at, until: at + span, host: Host(random.IntN(parties)), side: random.Uint64()}
		if random.IntN(2) == 0 {
			f.side = 1 << f.host
		}
		if f.kind == kill {
			if kills++; kills > parties/2 {
				continue
			}
		}
		list = append(list, f)
	}
	return list
}

func randomSetting(random *rand.Rand, most int) setting {
	hosts := 2 + random.IntN(most-1)
	if random.IntN(2) == 0 {
		hosts = 2 + random.IntN(3)
	}
	return setting{
		hosts: hosts, witness: random.IntN(2) == 0, procs: 2 * hosts, drift: 1000, console: hosts > 2 && random.IntN(4) == 0,
	}
}

func playRandom(seed uint64, most int, b bug) error {
	random := rand.New(rand.NewPCG(seed, 2))
	s := randomSetting(random, most)
	s.bug = b
	parties := s.hosts
	if s.witness {
		parties++
	}
	faults := randomFaults(random, parties, 1+random.IntN(6))
	if err := play(s, seed, faults, 75*sec); err != nil {
		return fmt.Errorf("seed %d, %+v, %v: %w", seed, s, faults, err)
	}
	return nil
}

// TestRandom plays jobs of 2 to 64 hosts with faults at random.
func TestRandom(t *testing.T) {
	runs := 60
	if explore.Long() {
		runs = 20_000
	}
	failed := 0
	for seed := range uint64(runs) {
		most := 12
		if seed%20 == 19 {
			most = 63
		}
		if err := playRandom(seed+1, most, ""); err != nil {
			t.Error(err)
			if failed++; failed == 4 {
				break
			}
		}
	}
}
