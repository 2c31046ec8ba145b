package cluster_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/testing/cluster"
)

// Jobs here are of four ranks with two replicas each. Host k has processes 2k and 2k+1, so h0 and
// h2 are siblings, and h1 and h3. On h0 and h2 is rank 0, which prints.
const ranks = 4

// The programs: they compute for a second or two, and behind a gate for a minute.
var (
	heat = []string{"stdbuf", "-oL", "bin/heat", "64", "1e-30", "6000"}
	cg   = []string{"bin/cg", "-solves", "3", "examples/cg/data/bcsstk16.mtx.gz"}
)

// srun and hydra start processes that form replicas by themselves.
var (
	srun = []string{"env", env.Entry(env.Replicas, 2), "srun", "--mpi=pmi2", "--no-kill", "--kill-on-bad-exit=0",
		"--nodes=4", "--ntasks-per-node=2"}
	hydra = []string{"mpiexec.hydra", "-disable-auto-cleanup", "-hosts", "h0,h1,h2,h3", "-ppn", "2",
		"-genv", env.Replicas, "2", "-n", "8", "scripts/shield.sh"}
)

func command(parts ...[]string) (all []string) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// undisturbed is what a program prints on one host, without replicas. Each program runs so once.
func undisturbed(t *testing.T, c *cluster.Cluster, program []string) string {
	t.Helper()
	name := strings.Join(program, " ")
	printing.Lock()
	defer printing.Unlock()
	if printed[name] == "" {
		printed[name] = c.Run(t, command([]string{"bin/banyan", "run", "-n", fmt.Sprint(ranks)}, program)...)
	}
	return printed[name]
}

var (
	printing sync.Mutex
	printed  = map[string]string{} // under printing
)

// Slurm and Hydra pass on what each replica of rank 0 prints: each line comes twice. If the host of
// one is cut off, some lines come once. Hydra's mpiexec waits for a host that is cut off as long as
// its ssh does, so the job has ended before mpiexec has.
func TestLauncherOfOthers(t *testing.T) {
	c := beside(t)
	for _, launcher := range []struct {
		name    string
		command []string
		waits   bool // for hosts that are cut off
	}{
		{"Slurm", srun, false},
		{"Hydra", hydra, true},
	} {
		for _, f := range []struct {
			name, words  string
			program      []string
			after        string // what the job has printed before
			fewest, most int    // how often it prints each line
			undo         string
		}{
			{"nothing", "", cg, "", 2, 2, ""},
			{"link down", "unplug 1", heat, "step 1000", 2, 2, "plug 1"},
			{"power cut", "power 1", cg, "iteration", 2, 2, ""},
			{"host 0 off", "unplug 0", heat, "step 1000", 1, 2, "plug 0"},
		} {
			if launcher.waits && f.name == "power cut" {
				continue // for Hydra it is the same as the last
			}
			if testing.Short() && (f.name != "host 0 off" || launcher.waits) {
				continue // what Hydra does to ranks is in capi/test/survival, too
			}
			t.Run(launcher.name+"/"+f.name, func(t *testing.T) {
				if _, err := exec.LookPath(launcher.command[0]); err != nil && launcher.name == "Hydra" {
					t.Skip(err)
				}
				want := undisturbed(t, c, f.program)
				g := slowly(t, c)
				j := start(t, c, command(launcher.command, g.program(f.program))...)
				if f.words != "" {
					j.await(f.after, 1)
					j.fault(f.words)
				}
				g.open()
				if launcher.waits && f.words != "" {
					j.await(lastLine(want), f.fewest)
					j.stop()
				} else {
					j.finish()
				}
				expectLines(t, j.printed(), want, f.fewest, f.most)
				if f.undo != "" {
					c.Fault(t, f.undo)
				}
				nothingLeft(t, c)
			})
		}
	}
}

func lastLine(text string) string {
	lines := slices.Collect(strings.Lines(text))
	return lines[len(lines)-1]
}

// expectLines says that an output has the lines of another, in any order, each at least and at most
// so many times.
func expectLines(t *testing.T, got, want string, fewest, most int) {
	t.Helper()
	lines, count := map[string]int{}, map[string]int{}
	for line := range strings.Lines(want) {
		lines[line]++
	}
	for line := range strings.Lines(got) {
		count[line]++
	}
	for line := range count {
		if lines[line] == 0 {
			t.Errorf("this was printed, and isn't in an undisturbed run: %q", line)
		}
	}
	for line, n := range lines {
		if count[line] < fewest*n || count[line] > most*n {
			t.Errorf("%q was printed %d times, not %d to %d", line, count[line], fewest*n, most*n)
		}
	}
}
