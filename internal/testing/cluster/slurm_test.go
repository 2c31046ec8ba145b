package cluster_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"banyan/internal/testing/cluster"
)

// What Slurm does to a node or a job is a fault like others.
func TestSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("they are a matter of Slurm more than of Banyan")
	}
	c := beside(t)
	t.Run("slurmd killed", func(t *testing.T) {
		want := undisturbed(t, c, heat)
		g := slowly(t, c)
		j := start(t, c, command(srun, heat)...)
		j.await("step 1000", 1)
		j.fault("kill-slurmd 1")
		g.open()
		j.finish()
		expectLines(t, j.printed(), want, 2, 2)
		nothingLeft(t, c)
	})
	t.Run("node down", func(t *testing.T) {
		want := undisturbed(t, c, heat)
		g := slowly(t, c)
		j := start(t, c, command(srun, heat)...)
		j.await("step 1000", 1)
		j.fault("node-down 1")
		g.open()
		if code := j.end(); code != 0 && code != 128+9 { // Slurm has killed the node's processes
			t.Errorf("exit code %d", code)
		}
		expectLines(t, j.printed(), want, 2, 2)
		nothingLeft(t, c)
	})
	t.Run("scancel", func(t *testing.T) {
		slowly(t, c)
		j := start(t, c, command(srun, heat)...)
		j.await("step 1000", 1)
		c.Fault(t, "scancel $(squeue -h -o %A)")
		if code := j.end(); code == 0 {
			t.Error("exit code 0, of a job that was cancelled")
		}
		nothingLeft(t, c)
	})
}

// A firewall between two halves answers with resets. Each half has a replica of every rank. At most
// one of them goes on. The job has no end, since one that ends before a verdict ends on both sides.
func TestRejectBetweenHalves(t *testing.T) {
	c := beside(t)
	endless := []string{"stdbuf", "-oL", "bin/heat", "512", "1e-30", "1000000000"}
	j := start(t, c, command(srun, endless)...)
	j.await("step 1000", 2)
	j.fault("reject 0,1 2,3")
	var one, other int
	for deadline := time.Now().Add(limit / 2); ; time.Sleep(100 * time.Millisecond) {
		one, other = living(t, c, "heat", 0, 1), living(t, c, "heat", 2, 3)
		if one == 0 || other == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("both halves go on, with %d and %d processes", one, other)
		}
	}
	if steps := strings.Count(j.printed(), "\n"); one+other > 0 {
		for deadline := time.Now().Add(limit / 4); strings.Count(j.printed(), "\n") < steps+3; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d and %d processes live, and compute nothing", one, other)
			}
		}
	}
	j.stop()
	c.Fault(t, "open")
	nothingLeft(t, c)
}

// living counts the processes with a name on some hosts.
func living(t *testing.T, c *cluster.Cluster, name string, hosts ...int) (n int) {
	t.Helper()
	for _, h := range hosts {
		out, err := c.Script(t.Context(), "on", strconv.Itoa(h), "sh", "-c", "pgrep -xc "+name+" || true").Output()
		if err != nil {
			t.Fatalf("counting on h%d: %v", h, err)
		}
		here, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatalf("counting on h%d: %v", h, err)
		}
		n += here
	}
	return n
}
