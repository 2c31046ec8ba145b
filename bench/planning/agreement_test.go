package planning

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/launcher"
	"banyan/internal/study/planning/resilience"
	"banyan/internal/study/planning/risk"
	"banyan/mpi"
)

var jobs = flag.Int("jobs", 4, "how many jobs are disturbed")

// asProgram makes a test's executable the program of its jobs.
const asProgram = "BANYAN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

const (
	ranks = 2
	steps = 200
	// Steps sleep, so that a loaded machine makes them little longer.
	pause = 5 * time.Millisecond
	every = 150 * time.Millisecond
	// Failures come at random in this time, longer than any job takes. They are so far apart that
	// a loaded machine, which goes back slowly, comes to its next snapshot nevertheless.
	within = 12 * time.Second
	kills  = 40
)

func program() {
	mpi.Main(func(world *mpi.Comm) error {
		step, sum := 0, []float64{0}
		if err := mpi.Register(world, "step", &step); err != nil {
			return err
		}
		if err := mpi.RegisterSlice(world, "sum", sum); err != nil {
			return err
		}
		for ; step < steps; step++ {
			if _, err := world.Safepoint(); err != nil {
				return err
			}
			time.Sleep(pause)
			mine := []float64{float64(step)}
			if err := mpi.Allreduce(world, mine, mine, mpi.Sum[float64]); err != nil {
				return err
			}
			sum[0] += mine[0]
		}
		if world.Rank() == 0 {
			fmt.Println(sum[0])
		}
		return nil
	})
}

// run runs the program, and returns how long it took.
func run(t *testing.T, replicas int, faults string, every time.Duration) (*launcher.Report, time.Duration) {
	t.Helper()
	plan, err := fault.Parse(faults)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(2*time.Minute, func() { panic("a job hangs: " + faults) })
	defer hang.Stop()
	var stdout, stderr bytes.Buffer
	begun := time.Now()
	r, err := launcher.Run(launcher.Config{
		Program: self, Ranks: ranks, Replicas: replicas, Rollback: true, SnapshotEvery: every, Faults: plan,
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Env: append(os.Environ(), asProgram+"=1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintln(float64(ranks * steps * (steps - 1) / 2)); r.ExitCode != 0 || stdout.String() != want {
		t.Fatalf("%s: exit code %d\n%s%s\nwant %s", faults, r.ExitCode, &stdout, &stderr, want)
	}
	return r, time.Since(begun)
}

// median is the middle one of some times, or 0.
func median(all []risk.Seconds) risk.Seconds {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// The simulation of banyan plan replication, with the costs that these jobs had, takes as long as
// they did, within its error and theirs: without replicas, and with two of each rank, of which a
// dead one is replaced when the job goes back.
func TestAgreement(t *testing.T) {
	if testing.Short() {
		t.Skip("20 s, in which next to nothing is computed")
	}
	for _, replicas := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d replicas", replicas), func(t *testing.T) { agrees(t, replicas) })
	}
}

func agrees(t *testing.T, replicas int) {
	_, work := run(t, replicas, "", time.Hour)
	var times []float64
	var pauses, restarts []risk.Seconds
	for seed := range *jobs {
		r, took := run(t, replicas, fmt.Sprintf("random count=%d within=%v seed=%d action=kill", kills, within, seed+1), every)
		times = append(times, took.Seconds())
		for _, s := range r.Snapshots {
			pauses = append(pauses, risk.Seconds(time.Duration(s.Held).Seconds()))
		}
		for _, b := range r.Rollbacks {
			if b.Restored != nil {
				restarts = append(restarts, risk.Seconds(time.Duration(*b.Restored).Seconds()))
			}
		}
	}
	mean, deviation := 0.0, 0.0
	for _, x := range times {
		mean += x / float64(len(times))
	}
	for _, x := range times {
		deviation += (x - mean) * (x - mean) / float64(max(1, len(times)-1))
	}
	cost := max(median(pauses), 1e-6)
	job := resilience.Job{
		Work: risk.Seconds(work.Seconds()), Nodes: resilience.Nodes{MTBF: risk.Seconds(within.Seconds() * float64(ranks*replicas) / kills)},
		Checkpointing: resilience.Checkpointing{Cost: cost, Restart: median(restarts)},
	}
	o := job.Outcome(resilience.SameRanks, ranks, resilience.Degree(replicas))
	o.Interval = risk.Seconds(every.Seconds()) - cost
	s := job.Simulate(&o, 2000, 1, nil)
	t.Logf("%d jobs took %.2f s on average, and %.2f s undisturbed; a snapshot %v, a restart %v; simulated %.2f s", len(times), mean,
		work.Seconds(), time.Duration(cost*1e9), time.Duration(job.Restart*1e9), float64(s.Time))
	theirs := math.Sqrt(deviation / float64(len(times)))
	// What else runs on the machine makes a few jobs slower than the one that was undisturbed.
	load := 0.4
	if *jobs >= 50 {
		load = 0.15
	}
	if off := math.Abs(mean - float64(s.Time)); off > load*mean+3*(theirs+float64(s.Error)) {
		t.Errorf("jobs took %.3f s (standard error %.3f), and %.3f s were simulated", mean, theirs, float64(s.Time))
	}
	if replicas == 1 && mean < 1.15*work.Seconds() || len(restarts) < len(times)/replicas {
		t.Errorf("%d restarts in %d jobs, which took %.3f s on average: that shows nothing", len(restarts), len(times), mean)
	}
}
