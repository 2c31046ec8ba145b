package oneworld

import (
	"testing"

	"banyan/internal/proto"
)

// rare are faults for mistakes that random ones show too seldom.
var rare = map[Bug]Settings{
	// There is no console when a replica is replaced, and its donor dies before there is another.
	KeptByOne: {Ranks: 2, Replicas: 2, Hosts: 4, Rounds: 20, Faults: []Fault{
		{Kind: KillConsole, At: 800 * ms},
		{Kind: KillProcess, At: 850 * ms, Proc: 2},
		{Kind: KillHost, At: 1600 * ms, Host: 0},
	}},
	Untold: {Rounds: 20, Faults: []Fault{{Kind: KillProcess, At: 600 * ms, Proc: 2}, {Kind: KillSteward, At: 900 * ms}}},
	// Much is on its way when the console dies, and the steward that could ask for it.
	SentOnce: {Ranks: 2, Replicas: 2, Hosts: 3, Rounds: 40, Faults: []Fault{
		{Kind: Lossy, Until: 20 * second, Host: 0}, {Kind: Lossy, Until: 20 * second, Host: 1}, {Kind: Lossy, Until: 20 * second, Host: 2},
		{Kind: KillBoth, At: 2500 * ms},
	}},
	// No console is there when all have left in order, a host has, and then the others' agents end.
	LeftWithOutput: {Ranks: 2, Replicas: 2, Hosts: 2, Rounds: 5, Faults: []Fault{
		{Kind: KillConsole, At: 10 * ms},
		{Kind: DrainHost, At: 600 * ms, Host: 1}, {Kind: KillAgent, At: 1800 * ms, Host: 1}, {Kind: KillSteward, At: 1900 * ms},
	}},
	// The host of the donor dies shortly before another host is drained.
	Unasked: {Ranks: 2, Replicas: 2, Hosts: 3, Rounds: 30, Faults: []Fault{
		{Kind: KillHost, At: 1200 * ms, Host: 1},
		{Kind: DrainHost, At: 1300 * ms, Host: 0},
	}},
	// The steward dies while a replacement is being made.
	LateForgotten: {Ranks: 2, Replicas: 2, Hosts: 4, Rounds: 40, Faults: []Fault{
		{Kind: KillProcess, At: 600 * ms, Proc: 3}, {Kind: KillSteward, At: 615 * ms},
	}},
	// Three replacements join at the same time.
	DeadAtBirth: {Ranks: 4, Replicas: 2, Hosts: 3, Rounds: 40, Faults: []Fault{
		{Kind: KillProcess, At: 600 * ms, Proc: 0}, {Kind: KillProcess, At: 600 * ms, Proc: 1}, {Kind: KillProcess, At: 600 * ms, Proc: 2},
	}},
}

// Each mistake is found within a few runs.
func TestCanaries(t *testing.T) {
	for b := NoBug + 1; b < bugs; b++ {
		t.Run(b.String(), func(t *testing.T) {
			for seed := range uint64(300) {
				s := rare[b]
				s.Seed = seed
				spoilt := s
				spoilt.Bug = b
				if r := Run(spoilt); isBroken(r, b) {
					t.Logf("seed %d: %.300v; %d attempts have failed", seed, r.Err, r.Failed)
					if r := Run(s); isBroken(r, b) {
						t.Errorf("seed %d without it: %v; %d attempts have failed", seed, r.Err, r.Failed)
					}
					return
				}
			}
			t.Error("it wasn't found")
		})
	}
}

// isBroken says whether a run shows a mistake. What ends an attempt is made good by the next one:
// such a mistake shows in a run in which nothing should end one.
func isBroken(r *Result, b Bug) bool { return r.Err != nil || b == DeadAtBirth && r.Failed > 0 }

// Processes that die at the same time are replaced at the same time, each at the first attempt
// unless it dies again.
func TestSeveralReplaced(t *testing.T) {
	for seed := range uint64(40) {
		s := rare[DeadAtBirth]
		s.Seed = seed
		if r := Run(s); r.Err != nil || r.Outcome != Finished || r.Failed > 0 {
			t.Errorf("seed %d: %s, %d attempts have failed: %v", seed, r.Outcome, r.Failed, r.Err)
		}
	}
}

// The steward is lost at every step of a replacement, and the replacement's host is out of reach of
// the next one for a while, or isn't.
func TestStewardLostMeanwhile(t *testing.T) {
	for at := range uint64(60) {
		for _, until := range []proto.Time{0, 4 * second} {
			s := Settings{Seed: at, Ranks: 2, Replicas: 2, Hosts: 4, Rounds: 40}
			s.Faults = []Fault{{Kind: KillProcess, At: 600 * ms, Proc: 3}, {Kind: KillSteward, At: 600*ms + proto.Time(at)*ms/2}}
			if until > 0 {
				s.Faults = append(s.Faults, Fault{Kind: OneWay, At: 700 * ms, Until: until, Side: 1 << 1, Against: 1 << 3})
			}
			if r := Run(s); r.Err != nil || r.Outcome != Finished {
				t.Errorf("steward lost at %s, one way until %s: %s %v", inSeconds(s.Faults[1].At), inSeconds(until), r.Outcome, r.Err)
			}
		}
	}
}
