package recovery

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/pmi/pmitest"
	"banyan/internal/testing/cprogram"
)

// Under another launcher that speaks only PMI, spare processes replace both replicas of a rank of a
// C program, one after the other.
func TestHeatHealsBySpares(t *testing.T) {
	heat := cprogram.Build(t, "mpicc", "../../../examples/heat/heat.c", "-O2", "-lm")
	args := []string{"100", "1e-7"}
	want := cprogram.Run(t, heat, args...).Stdout
	const ranks, spares = 3, 2
	all := pmitest.Start(t, 2*ranks+spares, func(i int) *exec.Cmd {
		cmd := exec.Command(heat, args...)
		cmd.Env = append(os.Environ(), env.Replicas+"=2", env.Entry(env.Spares, spares))
		if i == 1 {
			cmd.Env = append(cmd.Env, env.Fault+"=kill rank=1 replica=0 at=send:200")
		}
		return cmd
	})
	spareLeader, late := all[2*ranks], time.After(2*time.Minute)
	for healed := false; !healed; {
		select {
		case <-spareLeader.Ended():
			healed = true
		case <-late:
			t.Fatalf("it hangs; the spare leader says %.2000s", &spareLeader.Stderr)
		case <-time.After(time.Millisecond):
			healed = strings.Contains(spareLeader.Stderr.String(), "is back")
		}
	}
	all[1+ranks].Process.Kill()
	for i, p := range all {
		code, output := p.Await(t, 2*time.Minute), ""
		if i%ranks == 0 && i < 2*ranks {
			output = want
		}
		if killed := i == 1 || i == 1+ranks; !killed && code != 0 || p.Stdout.String() != output {
			t.Errorf("process %d: exit code %d, stdout %.300q, stderr %.1000q", i, code, &p.Stdout, &p.Stderr)
		}
	}
	if backs := strings.Count(spareLeader.Stderr.String(), "is back"); backs != 2 {
		t.Errorf("%d replicas were replaced: %.2000s", backs, &spareLeader.Stderr)
	}
}
