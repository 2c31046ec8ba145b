package cluster_test

import (
	"strings"
	"testing"
)

// The launcher of our own, over ssh and in an allocation of Slurm.
var (
	overHosts = []string{"bin/banyan", "run", "--host", "h0:2,h1:2,h2:2,h3:2", "-n", "4", "--replicas", "2"}
	allocated = []string{"salloc", "--quiet", "--nodes=4", "--ntasks-per-node=2", "--overcommit", "--no-kill",
		"bin/banyan", "run", "-n", "4", "--replicas", "2", "--oversubscribe"} // a host may have one core
)

// Whatever becomes of one host, the job's output is byte for byte that of an undisturbed run.
func TestRunOutlivesAHost(t *testing.T) {
	for _, f := range []struct {
		name    string
		command []string
		program []string
		words   string
		undo    string
		always  bool // in short tests, too
	}{
		{"nothing", overHosts, cg, "", "", false},
		{"agent killed", overHosts, heat, "on 1 pkill -KILL -x banyan", "", false}, // as TestAgentsDeathIsCertain
		{"agent stopped", overHosts, heat, "on 1 pkill -STOP -x banyan", "thaw 1", false},
		{"link down", overHosts, cg, "unplug 1", "plug 1", false},
		{"power cut", overHosts, heat, "power 1", "", true},
		{"host 0 off", overHosts, heat, "unplug 0", "plug 0", true},
		{"host stopped for 5 s", overHosts, heat, "freeze 1; sleep 5; thaw 1", "", false},
		{"allocation", allocated, heat, "", "", false},
		{"allocation, link down", allocated, heat, "unplug 1", "plug 1", true},
		{"allocation, slurmd killed", allocated, heat, "kill-slurmd 1", "", false},
		{"allocation, node down", allocated, heat, "node-down 1", "", false},
	} {
		if testing.Short() && !f.always {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			want := undisturbed(t, f.program)
			j := start(t, command(f.command, f.program)...)
			if f.words != "" {
				begun, _, _ := strings.Cut(want, "\n")
				j.await(begun, 1)
				// The job may end before the host goes on.
				shared.Fault(t, f.words)
			}
			j.finish()
			if got := j.printed(); got != want {
				t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
			}
			if f.undo != "" {
				shared.Fault(t, f.undo)
			}
			nothingLeft(t)
		})
	}
}

// A firewall rejects what the halves say to each other; both hear the console. The job goes on on
// one side, or ends and says why. Nothing is printed twice.
func TestRunWithRejectingHalves(t *testing.T) {
	want := undisturbed(t, heat)
	j := start(t, command(overHosts, heat)...)
	j.await("step 1000", 1)
	j.fault("reject 0,1 2,3")
	code := j.end()
	if got := j.printed(); code == 0 && got != want || !strings.HasPrefix(want, got) {
		t.Errorf("code %d; it printed\n%s\nand undisturbed\n%s", code, got, want)
	}
	if code != 0 && j.complained() == "" {
		t.Errorf("code %d, without a word", code)
	}
	shared.Fault(t, "open")
	nothingLeft(t)
}

// When the console is killed, or Slurm cancels the job, nothing is left on any host.
func TestRunEnds(t *testing.T) {
	for _, f := range []struct {
		name    string
		command []string
		words   string
		always  bool // in short tests, too
	}{
		{"console killed", overHosts, "pkill -KILL -x banyan", false}, // the job waits 10 s for another console
		{"scancel", allocated, "scancel $(squeue -h -o %A)", true},
	} {
		if testing.Short() && !f.always {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			j := start(t, command(f.command, heat)...)
			j.await("step 1000", 1)
			shared.Fault(t, f.words)
			if code := j.end(); code == 0 {
				t.Error("exit code 0")
			}
			nothingLeft(t)
		})
	}
}
