package cluster_test

import (
	"slices"
	"testing"
)

// What Slurm does to a node or a job is a fault like others.
func TestSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("they are a matter of Slurm more than of Banyan")
	}
	t.Run("slurmd killed", func(t *testing.T) {
		want := undisturbed(t, heat)
		j := start(t, command(srun, heat)...)
		j.await("step 1000", 1)
		j.fault("kill-slurmd 1")
		j.finish()
		expectLines(t, j.printed(), want, 2, 2)
		nothingLeft(t)
	})
	t.Run("node down", func(t *testing.T) {
		want := undisturbed(t, heat)
		j := start(t, command(srun, heat)...)
		j.await("step 1000", 1)
		j.fault("node-down 1")
		if code := j.end(); code != 0 && code != 128+9 { // Slurm has killed the node's processes
			t.Errorf("exit code %d", code)
		}
		expectLines(t, j.printed(), want, 2, 2)
		nothingLeft(t)
	})
	t.Run("scancel", func(t *testing.T) {
		j := start(t, command(srun, heat)...)
		j.await("step 1000", 1)
		shared.Fault(t, "scancel $(squeue -h -o %A)")
		if code := j.end(); code == 0 {
			t.Error("exit code 0, of a job that was cancelled")
		}
		nothingLeft(t)
	})
}

// A firewall between two halves answers with resets. Each half has a replica of every rank. At most
// one of them goes on.
func TestRejectBetweenHalves(t *testing.T) {
	// What is left to compute takes much longer than finding out: a job that ends before that has
	// ended on both sides.
	long := append(slices.Clone(heat[:len(heat)-1]), "20000")
	want := undisturbed(t, long)
	j := start(t, command(srun, long)...)
	j.await("step 1000", 1)
	j.fault("reject 0,1 2,3")
	j.end()
	if j.count(lastLine(want)) > 1 {
		t.Error("both halves went on")
	}
	expectLines(t, j.printed(), want, 0, 2)
	shared.Fault(t, "open")
	nothingLeft(t)
}
