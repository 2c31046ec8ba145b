package cluster_test

import (
	"os"
	"strings"
	"testing"
)

// The batch script of deploy/slurm has Slurm's own srun start three ranks of two replicas, and
// spare processes on the last node. A node loses its power. The spare processes take the slots of
// the replicas that it had, and the job ends with the output of an undisturbed one.
func TestSparesOfABatchScript(t *testing.T) {
	c := beside(t)
	log := c.File(t, "spares.log")
	t.Cleanup(func() { c.Heal(t) })
	want := c.Run(t, command([]string{"bin/banyan", "run", "-n", "3"}, heat)...)
	g := slowly(t, c)
	c.Run(t, command([]string{"sbatch", "--nodes=4", "--ntasks-per-node=2", "--overcommit", "--output=" + log, "deploy/slurm/pmi2.sbatch"}, heat)...)
	read := func() string {
		b, _ := os.ReadFile(log)
		return string(b)
	}
	until(t, "both replicas of rank 0 compute", func() bool { return strings.Count(read(), "step 1000:") == 2 })
	c.Fault(t, "power 1") // the script itself runs on h0
	until(t, "spare processes take the slots", func() bool { return strings.Count(read(), "is back") == 2 })
	g.open()
	until(t, "the allocation ends", func() bool { return strings.TrimSpace(c.Run(t, "squeue", "-h")) == "" })
	steps := ""
	for line := range strings.Lines(read()) {
		if strings.HasPrefix(line, "step ") || strings.Contains(line, " points, ") {
			steps += line
		}
	}
	expectLines(t, steps, want, 1, 2)
	t.Logf("%s", read())
	nothingLeft(t, c)
}
