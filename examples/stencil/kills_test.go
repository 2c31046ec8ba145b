package main

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

// soak makes TestKills run for this time instead of its usual number of jobs.
var soak = flag.Duration("soak", 0, "kill ranks at random for so long")

func TestMain(m *testing.M) { jobtest.Main(m, main) }

// Real processes are killed at random, two in a job, but never a rank and its buddy. With spares
// enough the output is that of the undisturbed job, to the byte. Without, only the number of ranks
// in it is another. Few jobs print nothing, because rank 0 dies between the last agreement and its
// print.
func TestKills(t *testing.T) {
	const jobs = 6 // make soak tries many more
	args := []string{"-cells", "400", "-steps", "3000", "-every", "100"}
	undisturbed := map[int]string{}
	begin, deaths, tried, silent := time.Now(), 0, 0, 0
	for seed := 1; seed <= jobs || time.Since(begin) < *soak; seed++ {
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		n, spares := 4+random.IntN(3), random.IntN(3)
		if undisturbed[n] == "" {
			undisturbed[n] = jobtest.Run(t, "", launcher.Config{Ranks: n, Replicas: 1, Args: args}).Stdout
		}
		first := random.IntN(n)
		when := func() string {
			if seed%2 == 0 {
				return fmt.Sprintf("%dms", 5+random.IntN(200))
			}
			return fmt.Sprintf("send:%d", 1+random.IntN(3000))
		}
		faults := fmt.Sprintf("kill rank=%d at=%s; kill rank=%d at=%s", first, when(), (first+2)%n, when())
		config := launcher.Config{Ranks: n + spares, Replicas: 1, SpareRanks: spares, FaultTolerance: launcher.FaultToleranceULFM, Args: args, Limit: time.Minute}
		r := jobtest.Run(t, faults, config)
		tried++
		deaths += len(r.Deaths)
		got, want := r.Stdout, undisturbed[n]
		if len(r.Deaths) > spares {
			got, _, _ = strings.Cut(got, ", with")
			want, _, _ = strings.Cut(want, ", with")
		}
		code, printer := 0, false
		for _, d := range r.Deaths {
			printer = printer || d.Rank == 0
			if d.Finalized { // the job's code is that of a rank that was killed between MPI_Finalize and its exit
				code = 128 + d.Signal
			}
		}
		if printer && r.ExitCode == code && r.Stdout == "" {
			silent++ // it had the outcome, as all others, and died before it printed that
			continue
		}
		if r.ExitCode != code || got != want {
			t.Errorf("%s\nexit code %d, %d deaths\nstderr:\n%s\nstdout:\n%s\nundisturbed:\n%s",
				jobtest.Command(faults, config), r.ExitCode, len(r.Deaths), r.Stderr, r.Stdout, undisturbed[n])
		}
	}
	t.Logf("%d processes died in %d jobs, of which %d printed nothing", deaths, tried, silent)
	if silent > 1+tried/10 {
		t.Error("too many jobs print nothing")
	}
	if deaths < tried/2 {
		t.Error("most jobs end before their faults")
	}
}

// All replicas of a rank are killed, in leader order. The others go on with one replica each, to
// the same bits.
func TestReplicas(t *testing.T) {
	args := []string{"-cells", "400", "-steps", "3000", "-every", "100"}
	undisturbed, _, _ := strings.Cut(jobtest.Run(t, "", launcher.Config{Ranks: 4, Replicas: 1, Args: args}).Stdout, ", with")
	for _, faults := range []string{
		"kill rank=2 replica=0 at=send:300; kill rank=2 replica=1 at=send:900",
		"kill rank=2 replica=0 at=send:700; kill rank=2 replica=1 at=send:700; kill rank=1 replica=0 at=send:100",
		"kill rank=3 replica=1 at=50ms; kill rank=3 replica=0 at=120ms; kill rank=1 at=send:2000",
	} {
		config := launcher.Config{Ranks: 4, Replicas: 2, Order: launcher.OrderLeader, FaultTolerance: launcher.FaultToleranceULFM, Args: args, Limit: time.Minute}
		r := jobtest.Run(t, faults, config)
		dismissed := 0
		for _, d := range r.Deaths {
			if d.Cause == launcher.CauseDismissed {
				dismissed++
			}
		}
		if got, _, _ := strings.Cut(r.Stdout, ", with"); r.ExitCode != 0 || got != undisturbed || dismissed == 0 {
			t.Errorf("%s\nexit code %d, %d dismissed\nstderr:\n%s\nstdout:\n%s", jobtest.Command(faults, config), r.ExitCode, dismissed, r.Stderr, r.Stdout)
		}
	}
}
