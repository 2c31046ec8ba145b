package cluster_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/testing/cluster"
)

// tied is a job that was started on host 0, and goes on without a console.
type tied struct {
	t            *testing.T
	output, path string
}

// computes is what heat has printed soon after it has begun to compute.
const computes = "step 1000"

// startOnHost starts a job on host 0, and waits until it has printed something.
func startOnHost(t *testing.T, c *cluster.Cluster, hosts, program []string, text string) tied {
	t.Helper()
	d := tied{t, c.File(t, "tie.out"), c.File(t, "tie.json")}
	t.Cleanup(func() { c.Heal(t) })
	words := command([]string{"on", "0", "bin/banyan", "run"}, hosts, []string{"--detach", "--output", d.output, "--report", d.path}, program)
	if out, err := c.Script(t.Context(), words...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
	until(t, "the job computes", func() bool { return strings.Contains(d.printed(), text) })
	return d
}

func (d tied) printed() string {
	b, _ := os.ReadFile(d.output)
	return string(b)
}

// end waits for the report of the job's end.
func (d tied) end() (r succeeded) {
	d.t.Helper()
	begun := time.Now()
	until(d.t, "the report is written", func() bool {
		text, err := os.ReadFile(d.path)
		return err == nil && json.Unmarshal(text, &r) == nil && r.Outcome != ""
	})
	d.t.Logf("the job has ended after %v", time.Since(begun))
	return r
}

// Two hosts, and a third voter: another host, or a directory that both see. Either host loses its
// power, or they don't hear each other any more: the job goes on, byte for byte, on one of them.
func TestTieOfTwoHosts(t *testing.T) {
	c := beside(t)
	dir := c.File(t, "witness")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	want := undisturbed(t, c, heat)
	for _, f := range []struct {
		name    string
		witness []string
		words   string
		next    bool // another launcher goes on
		short   bool
	}{
		{"witness host, senior host without power", []string{"--witness", "h2"}, "power 0", true, false},
		{"witness host, other host without power", []string{"--witness", "h2"}, "power 1", false, false},
		{"witness host, cut", []string{"--witness", "h2"}, "drop 0 1", false, false},
		{"witness directory, nothing", []string{"--witness-dir", dir}, "true", false, false},
		{"witness directory, senior host without power", []string{"--witness-dir", dir}, "power 0", true, true},
		{"witness directory, other host without power", []string{"--witness-dir", dir}, "power 1", false, false},
		{"witness directory, launcher killed", []string{"--witness-dir", dir}, `on 0 pkill -KILL -f "^banyan launch-job"`, true, false},
		{"witness directory, cut", []string{"--witness-dir", dir}, "drop 0 1", false, false},
		{"witness directory, rejecting cut", []string{"--witness-dir", dir}, "reject 0 1", false, false},
		{"nothing, other host without power", nil, "power 1", false, false},
		{"nothing, cut", nil, "drop 0 1", false, false},
	} {
		if testing.Short() && !f.short {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			g := slowly(t, c)
			d := startOnHost(t, c, slices.Concat([]string{"--host", "h0:4,h1:4", "--replicas", "2"}, f.witness), heat, computes)
			c.Fault(t, f.words)
			switch {
			case f.next:
				lead(t, c, "bin/heat", "")
			case f.words != "true":
				processesEndOn(t, c, "h1 ")
			}
			g.open()
			r := d.end()
			if r.ExitCode != 0 || r.Outcome != "completed" {
				t.Errorf("the report says %+v", r)
			}
			if next := strings.Contains(strings.Join(r.Warnings, "\n"), "another launcher has taken over"); f.next != next {
				t.Errorf("another launcher has taken over: %v; the report says %q", next, r.Warnings)
			}
			if got := d.printed(); got != want {
				t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
			}
			until(t, "the witness directory is removed", func() bool {
				left, err := os.ReadDir(dir)
				return err == nil && len(left) == 0
			})
			c.Fault(t, "open")
			processesEnd(t, c)
		})
	}
}

// Without a third voter two hosts have one that decides: that of the launcher. If it loses its
// power the job ends on the other one, too.
func TestSeniorOfTwoHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a lease's end")
	}
	c := beside(t)
	slowly(t, c)
	d := startOnHost(t, c, []string{"--host", "h0:4,h1:4", "--replicas", "2"}, heat, computes)
	c.Fault(t, "power 0")
	processesEnd(t, c)
	if text, err := os.ReadFile(d.path); err == nil && strings.Contains(string(text), "completed") {
		t.Errorf("the report says %s", text)
	}
}

// processesEnd says that, some time after a job's end, no process of it is left on any host. A job
// that nobody has attached to leaves its end in files, and ssh waits for a host without power.
func processesEnd(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	processesEndOn(t, c, "")
}

// processesEndOn is processesEnd for the hosts whose lines of Left begin so.
func processesEndOn(t *testing.T, c *cluster.Cluster, host string) {
	t.Helper()
	until(t, "no process is left", func() bool {
		return !slices.ContainsFunc(strings.Split(c.Left(t), "\n"), func(line string) bool {
			return strings.HasPrefix(line, host) && strings.Contains(line, " process ") && !strings.Contains(line, " sshd: ") && !strings.Contains(line, "/ssh ")
		})
	})
}

// One host has 8 of 10 processes, and two have one each. The agents are the only electorate: the
// side with two of three hosts goes on, though most processes are on the other one, and says which
// rank is lost with them. The other side doesn't go on.
func TestHostsOfEightOneAndOne(t *testing.T) {
	c := beside(t)
	want := c.Run(t, command([]string{"bin/banyan", "run", "-n", "8"}, heat)...)
	uneven := []string{"--host", "h0:8,h1:1,h2:1", "-n", "8", "--replicas", "0-1:2"}
	for _, f := range []struct {
		name, words string
		ends        string // the host that leaves the job, which goes on
		lost        bool   // ranks are
		short       bool
	}{
		{"two small hosts are cut off from the big one", "drop 0 1,2", "", true, true},
		{"a small host is cut off", "drop 1 0,2", "h1 ", false, false},
		{"a small host without power", "power 2", "h2 ", false, false},
		{"the big host without power", "power 0", "", true, false},
	} {
		if testing.Short() && !f.short {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			g := slowly(t, c)
			d := startOnHost(t, c, uneven, heat, computes)
			c.Fault(t, f.words)
			if !f.lost {
				processesEndOn(t, c, f.ends)
				g.open()
			}
			r := d.end()
			switch got := d.printed(); {
			case !f.lost && (r.ExitCode != 0 || got != want):
				t.Errorf("the report says %+v; it printed\n%s\nand undisturbed\n%s", r, got, want)
			case f.lost && (r.ExitCode == 0 || r.Outcome != "rank lost" || !strings.HasPrefix(want, got)):
				t.Errorf("the report says %+v; it printed\n%s\nand undisturbed\n%s", r, got, want)
			}
			c.Fault(t, "open")
			processesEnd(t, c)
		})
	}
}
