package cluster_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/testing/cluster"
)

// startLimit is how long 64 agents may take on 2 cores that are idle.
const startLimit = 20 * time.Second

// 64 agents come up, and more, by heads. One head's host is off: a spare one takes its place, and
// its branch comes up.
func TestManyHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs many hosts")
	}
	const n = 70 // with heads on every second or third
	many, err := cluster.Up(named("many"), n, false)
	if err != nil {
		t.Fatal(err)
	}
	defer many.Down()
	run := func(hosts, ranks, spares int) (string, time.Duration) {
		var names, want []string
		for k := range hosts {
			names = append(names, fmt.Sprintf("h%d", k))
		}
		begun := time.Now()
		out := many.Run(t, "bin/banyan", "run", "--host", strings.Join(names, ","), "-n", fmt.Sprint(ranks),
			fmt.Sprint("--spare-hosts=", spares), "--wait=110s", "hostname")
		took := time.Since(begun)
		for line := range strings.Lines(out) {
			want = append(want, strings.TrimSpace(line))
		}
		if len(want) != ranks {
			t.Errorf("%d hosts, %d ranks: %d have printed", hosts, ranks, len(want))
		}
		return out, took
	}
	_, took := run(64, 64, 0)
	t.Logf("a job on 64 hosts has taken %v, with start and end; on 2 idle cores the start alone has %v", took, startLimit)
	_, took = run(n, n, 0)
	t.Logf("a job on %d hosts has taken %v", n, took)
	many.Fault(t, "power 2") // the head of h3
	out, took := run(n, n-1, 1)
	t.Logf("with a head whose power is off %v", took)
	if strings.Contains(out, "h2\n") || !strings.Contains(out, "h3\n") || !strings.Contains(out, fmt.Sprintf("h%d\n", n-1)) {
		t.Errorf("it ran on\n%s", out)
	}
	many.Heal(t)
	if left := many.Left(t); left != "" {
		t.Errorf("this is left:\n%s", left)
	}
}

// A program that is only on the console is sent, with its libraries and a file, and is gone at the
// end, also if an agent was killed.
func TestStagedProgram(t *testing.T) {
	c := beside(t)
	// What the console has in /dev/shm no host has.
	c.Run(t, "sh", "-c", "mkdir /dev/shm/job && cp bin/heat bin/libmpi_abi.so.1 /dev/shm/job && echo data >/dev/shm/job/in")
	t.Cleanup(func() { c.Fault(t, "rm -r /dev/shm/job") })
	banyan := filepath.Join(c.Root, "bin/banyan")
	inJob := []string{"env", "-C", "/dev/shm/job", banyan, "run", "--host", "h0:2,h1:2,h2:2,h3:2", "-n", "4", "--replicas", "2"}

	j := start(t, c, command(inJob, []string{"./heat", "16", "1e-3", "20"})...)
	if code := j.end(); code == 0 || !strings.Contains(j.complained(), "programs can't start in /dev/shm/job") {
		t.Errorf("not sent: code %d, %s", code, j.complained())
	}
	j = start(t, c, command(inJob, []string{"--stage-file", "in", "sh", "-c", "cat in; ls -d /tmp/banyan-stage-*"})...)
	j.finish()
	if out := j.printed(); strings.Count(out, "data\n") != 4 || strings.Count(out, "/tmp/banyan-stage-") != 4 {
		t.Errorf("it printed\n%s", out)
	}
	g := slowly(t, c)
	j = start(t, c, command(inJob, []string{"--stage-file", "heat", "stdbuf", "-oL", "./heat"}, heat[3:])...)
	j.await("step 1000", 1)
	j.fault("on 1 pkill -KILL -x banyan")
	g.open()
	j.finish()
	if want := undisturbed(t, c, heat); j.printed() != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", j.printed(), want)
	}
	files := c.Run(t, "ssh", "h1", "ls /tmp")
	if strings.Contains(files, "banyan-stage") {
		t.Errorf("left on h1: %s", files)
	}
}
