package cluster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The launcher of our own, over ssh and in an allocation of Slurm.
var (
	overHosts = []string{"bin/banyan", "run", "--host", "h0:2,h1:2,h2:2,h3:2", "-n", "4", "--replicas", "2"}
	allocated = []string{"salloc", "--quiet", "--nodes=4", "--ntasks-per-node=2", "--overcommit", "--no-kill",
		"bin/banyan", "run", "-n", "4", "--replicas", "2", "--oversubscribe"} // a host may have one core
)

var programs = []namedProgram{{"heat", heat}, {"cg", cg}}

type namedProgram struct {
	name string
	argv []string
}

// Whatever becomes of one host, the job's output is byte for byte that of an undisturbed run.
func TestRunOutlivesAHost(t *testing.T) {
	c := beside(t)
	for _, f := range []struct {
		name    string
		command []string
		words   string
		told    string // what the job has said before it goes on as fast as it can
		undo    string // when the job has ended
		short   string // the program of short tests
	}{
		{"nothing", overHosts, "", "", "", ""},
		{"agent killed", overHosts, "on 1 pkill -KILL -x banyan", "host h1 is lost", "", ""}, // in short tests TestAgentsDeathIsCertain
		{"agent stopped", overHosts, "on 1 pkill -STOP -x banyan", "host h1 is lost", "thaw 1", ""},
		{"agent that prints stopped", overHosts, "on 0 pkill -STOP -x banyan", "host h0 is lost", "thaw 0", ""},
		{"agent stopped for 2 s", overHosts, "on 0 pkill -STOP -x banyan; sleep 2; thaw 0", "", "", ""},
		{"link down", overHosts, "unplug 1", "host h1 is lost", "plug 1", ""},
		{"power cut", overHosts, "power 1", "host h1 is lost", "", "heat"},
		{"host 0 off", overHosts, "unplug 0", "host h0 is lost", "plug 0", "heat"},
		{"host 0 without power", overHosts, "power 0", "host h0 is lost", "", ""},
		{"host stopped for 5 s", overHosts, "freeze 1; sleep 5; thaw 1", "", "", ""},
		{"host 0 stopped for 5 s", overHosts, "freeze 0; sleep 5; thaw 0", "", "", ""},
		{"host stopped for 2 s", overHosts, "freeze 1; sleep 2; thaw 1", "", "", ""},
		{"host dropped", overHosts, "drop 1 0,2,3,c", "host h1 is lost", "open", ""},
		{"host dropped by hosts", overHosts, "drop 1 0,2,3", " on h1)", "open", ""},
		{"host rejected by hosts", overHosts, "reject 1 0,2,3", " on h1)", "open", ""},
		{"host unheard", overHosts, "drop-from 1 0,2,3,c", "host h1 is lost", "open", ""},
		{"host unheard by hosts", overHosts, "drop-from 1 0,2,3", " on h1)", "open", ""},
		{"host deaf to hosts", overHosts, "drop-from 0,2,3 1", " on h1)", "open", ""},
		{"host deaf to its console", overHosts, "drop-from c 1", "host h1 is lost", "open", ""},
		{"host unheard by its console", overHosts, "drop-from 1 c", "host h1 is lost", "open", ""},
		{"link between two hosts down", overHosts, "drop 0 1", " on h", "open", ""},
		{"link flaps", overHosts, "for i in 1 2 3 4 5 6; do unplug 1; sleep 0.3; plug 1; sleep 0.3; done", "", "", ""},
		{"link flaps slowly", overHosts, "for i in 1 2; do unplug 1; sleep 1.5; plug 1; sleep 1; done", "", "", ""},
		{"allocation", allocated, "", "", "", ""},
		{"allocation, link down", allocated, "unplug 1", "host h1 is lost", "plug 1", "heat"},
		{"allocation, power cut", allocated, "power 1", "host h1 is lost", "", ""},
		{"allocation, slurmd killed", allocated, "kill-slurmd 1", "", "", ""},
		{"allocation, node down", allocated, "node-down 1", "host h1 is lost", "", ""},
	} {
		for _, p := range programs {
			if testing.Short() && f.short != p.name {
				continue
			}
			t.Run(f.name+"/"+p.name, func(t *testing.T) {
				want := undisturbed(t, c, p.argv)
				g := slowly(t, c)
				j := start(t, c, command(f.command, g.program(p.argv))...)
				if f.words != "" {
					begun, _, _ := strings.Cut(want, "\n")
					j.await(begun, 1)
					j.fault(f.words)
					j.awaitTold(f.told, 1)
				}
				g.open()
				j.finish()
				if got := j.printed(); got != want {
					t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
				}
				if f.undo != "" {
					c.Fault(t, f.undo)
				}
				nothingLeft(t, c)
			})
		}
	}
}

// A job is recorded, in a directory that the hosts don't have. The power of one is cut: what its
// processes had recorded is in the trace, but for the last moment.
func TestTraceOverHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := beside(t)
	path := filepath.Join(t.TempDir(), "run.jsonl")
	want := undisturbed(t, c, heat)
	g := slowly(t, c)
	j := start(t, c, command(overHosts, []string{"--trace", path}, heat)...)
	begun, _, _ := strings.Cut(want, "\n")
	j.await(begun, 1)
	time.Sleep(time.Second) // a host sends what is recorded ten times a second
	j.fault("power 1")
	g.open()
	j.finish()
	if got := j.printed(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	if !strings.Contains(j.complained(), "the trace may lack the last that was recorded on lost hosts") {
		t.Errorf("it said %s", j.complained())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for p := range 2 * ranks {
		if n := strings.Count(string(text), fmt.Sprintf(`"proc":%d,"event":"receive"`, p)); n < 10 {
			t.Errorf("%d frames are recorded that process %d has received", n, p)
		}
	}
	nothingLeft(t, c)
}

// A firewall rejects what the halves say to each other; both hear the console. The job goes on on
// one side, or ends and says why. Nothing is printed twice.
func TestRunWithRejectingHalves(t *testing.T) {
	c := beside(t)
	want := undisturbed(t, c, heat)
	g := slowly(t, c)
	j := start(t, c, command(overHosts, heat)...)
	j.await("step 1000", 1)
	j.fault("reject 0,1 2,3")
	until(t, "one half ends", func() bool { return j.over() || strings.Contains(j.complained(), " on h") })
	g.open()
	code := j.end()
	if got := j.printed(); code == 0 && got != want || !strings.HasPrefix(want, got) {
		t.Errorf("code %d; it printed\n%s\nand undisturbed\n%s", code, got, want)
	}
	if code != 0 && j.complained() == "" {
		t.Errorf("code %d, without a word", code)
	}
	c.Fault(t, "open")
	nothingLeft(t, c)
}

// When the console is killed, or Slurm cancels the job, nothing is left on any host.
func TestRunEnds(t *testing.T) {
	c := beside(t)
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
			slowly(t, c)
			j := start(t, c, command(f.command, heat)...)
			j.await("step 1000", 1)
			c.Fault(t, f.words)
			if code := j.end(); code == 0 {
				t.Error("exit code 0")
			}
			nothingLeft(t, c)
		})
	}
}
