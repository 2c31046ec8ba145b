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
