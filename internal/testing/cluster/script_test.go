package cluster_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/testing/cluster"
)

// other is the name of a second cluster, for what can't be tried on those of all tests.
var other = named("test-other")

// remains is what there is of the other cluster on this machine: processes, mounts, files.
func remains(t *testing.T) (all []string) {
	t.Helper()
	dir := "/run/banyan-cluster-" + other
	if _, err := os.Lstat(dir); err == nil {
		all = append(all, dir)
	}
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && strings.Contains(string(b), dir) {
			all = append(all, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	if b, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(b), dir) {
		all = append(all, "a mount")
	}
	return all
}

// script calls scripts/cluster.sh for the other cluster.
func script(t *testing.T, c *cluster.Cluster, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := c.Script(ctx, args...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil || cmd.ProcessState == nil {
		t.Fatalf("cluster.sh %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestScript(t *testing.T) {
	c, err := cluster.Up(other, 2, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Down()
	if out, code := script(t, c, "up", "3"); code == 0 || !strings.Contains(out, "a cluster of 2 hosts is up") {
		t.Errorf("a second up: code %d, %s", code, out)
	}

	// A host has a name, a network, a boot id and a /tmp of its own, and the project.
	tell := "hostname; cat /proc/sys/kernel/random/boot_id; ls " + c.Root + "/go.mod"
	first, second := c.Run(t, "ssh", "h0", tell), c.Run(t, "ssh", "h1", tell)
	a, b := strings.Fields(first), strings.Fields(second)
	if len(a) != 3 || len(b) != 3 || a[0] != "h0" || b[0] != "h1" || a[1] == b[1] || a[2] != b[2] {
		t.Errorf("h0 says %q, h1 %q", first, second)
	}
	if out, code := script(t, c, "left"); code != 0 || out != "" {
		t.Errorf("left on a new cluster: code %d, %s", code, out)
	}
	c.Run(t, "ssh", "h1", "touch /tmp/rest; sleep 1000 >/dev/null 2>&1 &")
	if out, code := script(t, c, "left"); code != 1 || strings.Count(out, "\n") != 2 || !strings.Contains(out, "h1 file rest\n") {
		t.Errorf("left: code %d, %s", code, out)
	}

	for _, d := range []struct {
		args       []string
		code       int
		says, isnt string
	}{
		{[]string{"during", "sleep 3; hostname; exit 7", "ssh h1 hostname", "--after", "50ms"}, 7, "h1\nconsole\n", ""},
		{[]string{"during", "true", "hostname", "--after", "10s"}, 125, "ended before the fault", "console"},
		{[]string{"during", "sleep 0.5", "false", "--after=0.1"}, 125, "the fault failed: false", ""},
		{[]string{"during", "sleep 1"}, 1, "two commands", ""},
		{[]string{"during", "sleep 1", "true", "--after", "soon"}, 1, "isn't a time", ""},
		{[]string{"fault", "unplug 2"}, 2, `no host "2": 0 to 1`, ""},
		{[]string{"fault", "power c"}, 2, "can't be done to the console", ""},
		{[]string{"up", "many"}, 1, "1 to 250 hosts", ""},
		{[]string{"stop"}, 1, `no command "stop"`, ""},
	} {
		out, code := script(t, c, d.args...)
		if code != d.code || !strings.Contains(out, d.says) || d.isnt != "" && strings.Contains(out, d.isnt) {
			t.Errorf("%q: code %d, %s", d.args, code, out)
		}
	}

	if err := c.Down(); err != nil {
		t.Fatal(err)
	}
	if rest := remains(t); len(rest) > 0 {
		t.Errorf("left after down:\n%s", strings.Join(rest, "\n"))
	}
	if out, code := script(t, c, "run", "true"); code != 1 || !strings.Contains(out, "no cluster is up") {
		t.Errorf("run without a cluster: code %d, %s", code, out)
	}
}

// Links, firewalls, power and time of a host are taken away, and come back.
func TestFaults(t *testing.T) {
	c := beside(t)
	reach := func(from, to string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := c.Script(ctx, "on", from, "timeout", "0.5", "bash", "-c", "echo >/dev/tcp/"+to+"/22").CombinedOutput()
		switch {
		case err == nil:
			return "yes"
		case strings.Contains(string(out), "refused"):
			return "refused"
		case ctx.Err() != nil:
			return "a hang"
		}
		return "silence"
	}
	for _, f := range []struct {
		words, undo                  string
		forth, back, console, others string // does h0 reach h1, h1 h0, the console h1, h0 h2?
	}{
		{"unplug 1", "plug 1", "silence", "silence", "silence", "yes"},
		{"drop 0 1", "open", "silence", "silence", "yes", "yes"},
		{"drop-from 1 0", "open", "silence", "silence", "yes", "yes"},
		{"reject 0,2 1", "open", "refused", "refused", "yes", "yes"},
		{"reject c,0 1", "open", "refused", "refused", "refused", "yes"},
		{"ip link set v1 down", "ip link set v1 up", "silence", "silence", "silence", "yes"},
		{"power 1", "boot 1", "silence", "", "silence", "yes"},
		{"power 1,3; boot 1,3", "true", "yes", "yes", "yes", "yes"},
	} {
		c.Fault(t, f.words)
		var attempts sync.WaitGroup // most of them wait
		for _, r := range []struct{ from, to, want string }{{"0", "h1", f.forth}, {"1", "h0", f.back}, {"c", "h1", f.console}, {"0", "h2", f.others}} {
			if r.want == "" {
				continue
			}
			attempts.Go(func() {
				if got := reach(r.from, r.to); got != r.want {
					t.Errorf("%s: %s reaches %s: %s, not %s", f.words, r.from, r.to, got, r.want)
				}
			})
		}
		attempts.Wait()
		c.Fault(t, f.undo)
		for deadline := time.Now().Add(20 * time.Second); reach("0", "h1") != "yes"; {
			if time.Now().After(deadline) {
				t.Fatalf("%s, and %s: h0 doesn't reach h1", f.words, f.undo)
			}
		}
	}

	c.Fault(t, "freeze 1")
	if state := c.Run(t, "ps", "-C", "sshd", "-o", "stat="); !strings.Contains(state, "T") {
		t.Errorf("the sshds of the hosts are %q", state)
	}
	c.Heal(t)
	if state := c.Run(t, "ps", "-C", "sshd", "-o", "stat="); strings.Contains(state, "T") {
		t.Errorf("after heal they are %q", state)
	}
	if left := c.Left(t); left != "" {
		t.Errorf("this is left:\n%s", left)
	}
}

// up is killed in the middle. down removes what there is, and up works again.
func TestCrashOfUp(t *testing.T) {
	moments := []time.Duration{60, 300, 20, 150}
	if testing.Short() {
		moments = moments[:2]
	}
	for _, after := range moments {
		c, err := cluster.Up(other, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Down(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		up := c.Script(ctx, "up", "2", "--slurm")
		if err := up.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		cancel() // kills it
		up.Wait()
		if err := c.Down(); err != nil {
			t.Fatal(err)
		}
		if rest := remains(t); len(rest) > 0 {
			t.Errorf("killed after %v: left:\n%s", after*time.Millisecond, strings.Join(rest, "\n"))
		}
	}
}
