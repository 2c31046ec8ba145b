// Package pacts runs jobs with replicas whose program handles failures, in leader order, and
// kills all replicas of some ranks.
package pacts

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"banyan/examples/internal/jobtest"
	"banyan/internal/job/launcher"
)

// soak makes TestLosses run for this time instead of its usual number of jobs.
var soak = flag.Duration("soak", 0, "kill replicas at random for so long")

func TestMain(m *testing.M) { jobtest.Main(m, program) }

// Jobs lose one or two ranks. All that live go on, and their agreements and resilient collectives
// have come to the same.
func TestLosses(t *testing.T) {
	const jobs = 8 // make soak tries many more
	begin, tried, shrunk := time.Now(), 0, 0
	for seed := 1; seed <= jobs || time.Since(begin) < *soak; seed++ {
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		// Of three ranks two may be left, which agree again and again in the new communicator: the
		// first to be there sends what the other has no use for yet.
		n, degree := 3+(seed+random.IntN(2))%4, 2+seed%2
		var faults []string
		dead := map[int]bool{}
		for range 1 + random.IntN(2) {
			rank := random.IntN(n)
			for replica := range degree {
				if dead[rank] = true; seed%3 > 0 {
					faults = append(faults, fmt.Sprintf("kill rank=%d replica=%d at=send:%d", rank, replica, 1+random.IntN(700)))
				} else {
					faults = append(faults, fmt.Sprintf("kill rank=%d replica=%d at=%dms", rank, replica, 50+random.IntN(300)))
				}
			}
		}
		config := launcher.Config{
			Ranks: n, Replicas: degree, Order: []string{launcher.OrderLeader, launcher.OrderAuto}[seed/2%2],
			FaultTolerance: launcher.FaultToleranceULFM, Args: []string{"-rounds", "300"}, Limit: time.Minute,
		}
		if seed%4 < 2 {
			config.Args = append(config.Args, "-resilient")
		}
		r := jobtest.Run(t, strings.Join(faults, "; "), config)
		tried++
		bad := r.ExitCode != 0
		lines := strings.Split(strings.TrimSpace(r.Stdout), "\n")
		bad = bad || len(lines) < n-len(dead)
		for _, l := range lines {
			_, outcomes, _ := strings.Cut(strings.TrimPrefix(l, "rank "), " ")
			_, first, _ := strings.Cut(strings.TrimPrefix(lines[0], "rank "), " ")
			bad = bad || outcomes != first
		}
		if strings.Contains(lines[0], "]") {
			shrunk++
		}
		if bad {
			t.Errorf("%s\nexit code %d\nstderr:\n%s\nstdout:\n%s", jobtest.Command(strings.Join(faults, "; "), config), r.ExitCode, r.Stderr, r.Stdout)
		}
	}
	t.Logf("%d of %d jobs have shrunk", shrunk, tried)
	if shrunk < tried/2 {
		t.Error("most jobs end before their faults")
	}
}
