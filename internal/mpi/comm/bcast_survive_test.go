package comm_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
)

// bcasts is how many broadcasts TestBcastsSurvive makes.
var bcasts = flag.Int("bcasts", 4000, "broadcasts of TestBcastsSurvive, in jobs whose ranks are killed")

// survive takes part in arguments[1] broadcasts, random with the seed arguments[0]: over several
// communicators, of all sizes, blocking and in the background. Ranks from `roots` on may be killed
// on the way. The ranks that are left print what they received.
func survive(w *comm.Comm, arguments []int) error {
	seed, rounds := uint64(arguments[0]), arguments[1]
	lots := rand.New(rand.NewPCG(seed, 0))
	n := w.Size() // at least 2
	roots := min(1+lots.IntN(2), n-1)
	deaths := make([]int, n) // when each rank dies
	for r := range deaths {
		if deaths[r] = rounds; r >= roots && lots.IntN(3) > 0 {
			deaths[r] = lots.IntN(rounds)
		}
	}
	// Communicators: of all ranks, of all in another order, and of all but one.
	var others []proto.Rank
	for r := range n {
		others = append(others, proto.Rank((r+1)%n))
	}
	backwards, err := w.Create(others)
	if err != nil {
		return err
	}
	fewer := make([]proto.Rank, 0, n)
	for r := range n {
		if r != n-1 {
			fewer = append(fewer, proto.Rank(r))
		}
	}
	small, err := w.Create(fewer)
	if err != nil {
		return err
	}
	dup, err := w.Dup()
	if err != nil {
		return err
	}
	casters := []*caster{{w: w}, {w: backwards}, {w: small}, {w: dup}}
	got := 0
	for i := range rounds {
		if i == deaths[w.Rank()] {
			// It dies during what follows.
			go dieWithin(300 * time.Microsecond)
		}
		which := lots.IntN(len(casters))
		c := drawCast(lots, i, roots)
		again := lots.IntN(50) == 0
		if casters[which].w == nil {
			continue
		}
		if which == 1 {
			c.root = (c.root + n - 1) % n
		}
		a := casters[which]
		if err := a.cast(c); err != nil {
			return err
		}
		got++
		if which == 3 && again {
			if err := a.finish(); err != nil {
				return err
			}
			next, err := w.Dup()
			if err != nil {
				return err
			}
			if err := a.w.Free(); err != nil {
				return err
			}
			a.w = next
		}
	}
	for _, a := range casters {
		if err := a.finish(); err != nil {
			return err
		}
	}
	if deaths[w.Rank()] < rounds {
		select {} // it waits to be killed, and can't print that it lived
	}
	fmt.Printf("rank %d has got %d\n", w.Rank(), got)
	return nil
}

// Ranks are killed at random while broadcasts are under way, in real processes. Every live rank
// gets the right bytes of all broadcasts.
func TestBcastsSurvive(t *testing.T) {
	const each = 1000
	killed, survivors, seed := 0, 0, 0
	for total := 0; total < *bcasts; total += each {
		seed++
		n := []int{4, 2, 3, 8, 5, 6}[seed%6]
		transport := []string{launcher.TransportSHM, launcher.TransportSHM, launcher.TransportTCP}[seed%3]
		k, s := surviveJob(t, n, transport, "", seed, each)
		killed, survivors = killed+k, survivors+s
	}
	if killed == 0 {
		t.Error("nobody was killed")
	}
	t.Logf("%d broadcasts in %d jobs, %d ranks killed, %d survived", seed*each, seed, killed, survivors)
}

// surviveJob runs survive in a job whose broadcasts run a scheme, and counts the ranks that were
// killed and those that got all.
func surviveJob(t *testing.T, n int, transport, scheme string, seed, each int) (killed, survivors int) {
	t.Helper()
	out, errs, report := processesOver(t, n, false, transport, scheme, "survive", seed, each)
	lines := strings.Count(out, " has got ")
	if report.ExitCode != 0 || report.Outcome != launcher.OutcomeCompleted || lines != n-len(report.LostRanks) {
		t.Fatalf("seed %d, %d ranks over %s, scheme %q: exit code %d, %s %s; %d of %d ranks are lost, %d have got all\n%s%.4000s",
			seed, n, transport, scheme, report.ExitCode, report.Outcome, report.Reason, len(report.LostRanks), n, lines, out, errs)
	}
	return len(report.LostRanks), lines
}
