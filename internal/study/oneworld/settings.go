package oneworld

import (
	"fmt"
	"math/rand/v2"

	"banyan/internal/proto"
)

// Settings say what is run. Numbers that are 0, and all else, are drawn from the seed.
type Settings struct {
	Seed     uint64
	Hosts    int // with processes at the start
	Ranks    int
	Replicas int // of each rank
	Rounds   int // of the program
	Faults   []Fault
	Bug      Bug
	Log      func(line string) // is told what happens; nil: nothing is logged
}

// Validate says what is wrong with Settings, beginning with the name of the field.
func (s *Settings) Validate() error {
	for _, x := range []struct {
		name            string
		value, from, to int
	}{{"hosts", s.Hosts, 2, 32}, {"ranks", s.Ranks, 2, 64}, {"replicas", s.Replicas, 2, 4}, {"rounds", s.Rounds, 1, 10_000}} {
		if x.value != 0 && (x.value < x.from || x.value > x.to) {
			return fmt.Errorf("%s: %d: want %d to %d, or 0", x.name, x.value, x.from, x.to)
		}
	}
	if s.Hosts != 0 && s.Replicas > s.Hosts {
		return fmt.Errorf("replicas: %d: want no more than hosts, %d: replicas of a rank share none", s.Replicas, s.Hosts)
	}
	return nil
}

// job is Settings with all that the seed says.
type job struct {
	Settings
	spares  int  // hosts without processes at the start
	mirror  bool // the mirror protocol
	witness bool
	apart   bool // the console has a machine of its own
	setUp   int  // rounds before the program's first safe point
	compute proto.Time
}

func (j *job) String() string {
	return fmt.Sprintf("seed %d: %d ranks × %d replicas on %d hosts, %d spare ones; console apart: %v; witness: %v; mirror protocol: %v; %d rounds",
		j.Seed, j.Ranks, j.Replicas, j.Hosts, j.spares, j.apart, j.witness, j.mirror, j.Rounds)
}

// draw draws what isn't given.
func (s Settings) draw() job {
	rng := rand.New(rand.NewPCG(s.Seed, 7))
	j := job{Settings: s}
	pick := func(field *int, from, to int) {
		if x := from + rng.IntN(max(to-from, 0)+1); *field == 0 {
			*field = x
		}
	}
	most := 2
	if rng.IntN(6) == 0 && s.Hosts != 2 {
		most = 3
	}
	pick(&j.Replicas, most, most)
	pick(&j.Hosts, j.Replicas, 5)
	pick(&j.spares, 0, 2)
	pick(&j.Ranks, 2, 4)
	pick(&j.Rounds, 5, 40)
	j.apart, j.witness, j.mirror = rng.IntN(2) == 0, rng.IntN(3) == 0, rng.IntN(6) == 0
	j.setUp = rng.IntN(3)
	j.compute = []proto.Time{2 * ms, 30 * ms, 200 * ms}[rng.IntN(3)]
	if rng.IntN(12) == 0 && s.Hosts == 0 && s.Replicas <= 2 { // two hosts with a witness
		j.Hosts, j.Replicas, j.spares, j.apart, j.witness = 2, 2, 0, false, true
	}
	return j
}
