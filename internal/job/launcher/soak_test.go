package launcher

import (
	"bytes"
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	lib "banyan/mpi"
)

var soak = flag.Duration("soak", 2*time.Second, "how long TestNoFalseSuspicion lasts")

// talk has all ranks communicate until rank 0 says that the time is over.
func talk(d time.Duration) {
	end := time.Now().Add(d)
	lib.Main(func(world *lib.Comm) error {
		for more := []int{1}; more[0] == 1; time.Sleep(10 * time.Millisecond) {
			if world.Rank() == 0 && time.Now().After(end) {
				more[0] = 0
			}
			if err := lib.Bcast(world, more, 0); err != nil {
				return err
			}
			if err := lib.Allreduce(world, []int{1}, []int{0}, lib.Sum); err != nil {
				return err
			}
		}
		return nil
	})
}

// calculate has all ranks compute only.
func calculate(d time.Duration) {
	lib.Main(func(world *lib.Comm) error {
		if err := world.Barrier(); err != nil {
			return err
		}
		absent("computes", d)
		return nil
	})
}

// With the default settings no process is suspected on a machine with twice as many computing
// processes as cores: neither a process that computes nor one that communicates meanwhile. "make
// soak" runs this test for longer.
func TestNoFalseSuspicion(t *testing.T) {
	if testing.Short() {
		t.Skip("it loads the machine")
	}
	t.Parallel()
	jobs := []struct {
		ranks int
		args  []string
	}{
		{2 * runtime.NumCPU(), []string{"calculate", soak.String()}},
		{8, []string{"talk", soak.String()}},
	}
	ended := make(chan bool)
	for _, job := range jobs {
		go func() {
			defer func() { ended <- true }()
			c := complete(Config{Ranks: job.ranks}, job.args)
			var stdout, stderr lockedBuffer
			c.Stdout, c.Stderr = &stdout, &stderr
			r, err := Run(c)
			switch {
			case err != nil:
				t.Error(err)
			case r.ExitCode != 0 || len(r.Deaths) > 0:
				t.Errorf("%d ranks, %s: deaths %+v, stderr %q", job.ranks, job.args[0], r.Deaths, stderr.String())
			}
		}()
	}
	limit := time.After(*soak + time.Minute)
	for range jobs {
		select {
		case <-ended:
		case <-limit:
			t.Fatal("a job hangs")
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	load, _, _ = bytes.Cut(load, []byte{' '})
	t.Logf("%v: %d ranks computed, %d communicated, η %v, δ %v; %d cores, load average at the end %s",
		*soak, jobs[0].ranks, jobs[1].ranks, DefaultHeartbeatPeriod, DefaultHeartbeatTimeout, runtime.NumCPU(), strings.TrimSpace(string(load)))
}
