package oneworld

import "testing"

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
	// Several replicas of a host join at the same time.
	DeadAtBirth: {Ranks: 4, Replicas: 2, Hosts: 3, Rounds: 40, Faults: []Fault{{Kind: KillHost, At: 1200 * ms, Host: 1}}},
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
				if r := Run(spoilt); r.Err != nil {
					t.Logf("seed %d: %.300v", seed, r.Err)
					if r := Run(s); r.Err != nil {
						t.Errorf("seed %d without it: %v", seed, r.Err)
					}
					return
				}
			}
			t.Error("it wasn't found")
		})
	}
}
