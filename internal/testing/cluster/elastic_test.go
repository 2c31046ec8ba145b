package cluster_test

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/testing/cluster"
)

// Agents that come by themselves: first these, then their console, as pods may start in any order.
// Each is the first process of a container. A pod is deleted, or killed, and comes again, as
// Kubernetes does it. The job goes on, and the processes that it had are replaced there.
func TestAgentsComeByThemselves(t *testing.T) {
	c := beside(t)
	for _, f := range []struct {
		name, words string
		reason      string // for which the host is lost
	}{
		{"deleted", "on 1 pkill -TERM -x banyan-guard", "its agent has killed its processes"},
		{"agent killed", "on 1 pkill -KILL -x banyan", "its agent has died with its processes"},
		{"killed", "on 1 pkill -KILL -x banyan-guard", "its lease is over"},
	} {
		if testing.Short() && f.name != "deleted" {
			continue
		}
		t.Run(f.name, func(t *testing.T) { comeByThemselves(t, c, f.words, f.reason) })
	}
}

// ownProcesses has a shell in new namespaces see its own processes alone, and the boot id of its
// host.
const ownProcesses = "cat /proc/sys/kernel/random/boot_id >/tmp/boot_id && mount -t proc proc /proc && " +
	"mount --bind /tmp/boot_id /proc/sys/kernel/random/boot_id && rm /tmp/boot_id &&"

func comeByThemselves(t *testing.T, c *cluster.Cluster, words, reason string) {
	want := undisturbed(t, c, heat)
	const key = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	agent := func(number int) string {
		return fmt.Sprintf("echo %s | ssh h%d 'cd %s && exec unshare --pid --fork --mount --kill-child sh -c \"%s exec bin/banyan agent --join console:7117 --number %[2]d --zone z%[2]d\"' &\n",
			key, number, c.Root, ownProcesses)
	}
	run := "echo " + key + " | bin/banyan run --listen :7117 --agents 2 --key-file /dev/stdin -n 4 --replicas 2 --heal " + strings.Join(heat, " ")
	g := slowly(t, c)
	j := start(t, c, "sh", "-c", agent(1)+agent(0)+"sleep 1\n"+run)
	begun, _, _ := strings.Cut(want, "\n")
	j.await(begun, 1)
	j.fault(words)
	again := start(t, c, "sh", "-c", agent(1)+"wait")
	j.awaitTold("is back after", ranks)
	g.open()
	j.finish()
	again.finish() // the console has ended the agent
	if got := j.printed(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	for text, times := range map[string]int{"host h1 is lost": 1, reason: 1, "host h1#2 has joined": 1, "is back after": ranks} {
		if n := strings.Count(j.complained(), text); n != times {
			t.Errorf("%q %d times, not %d", text, n, times)
		}
	}
	nothingLeft(t, c)
}

// A host is added to a job on two others, and one of those is drained. The job goes on, and its
// output is that of an undisturbed run. The drained host can lose its power then.
func TestHostsAddedAndDrained(t *testing.T) {
	c := beside(t)
	want := undisturbed(t, c, heat)
	g := slowly(t, c)
	j := start(t, c, command([]string{"bin/banyan", "run", "--host", "h0:4,h1:4", "--replicas", "2", "--heal", "--heartbeat-timeout", "5s"}, heat)...)
	begun, _, _ := strings.Cut(want, "\n")
	j.await(begun, 1)
	hosts := func(args ...string) string {
		return c.Run(t, command([]string{"bin/banyan", "hosts"}, args)...)
	}
	if got := hosts("add", "stdbuf", "h2:4"); got != "added: h2\n" {
		t.Errorf("%q", got)
	}
	if got := hosts("drain", "stdbuf", "h0"); got != "left: h0\n" {
		t.Errorf("%q", got)
	}
	states := hosts("stdbuf", "--format", "csv")
	for _, state := range []string{"h0,has left,", "h1,runs,", "h2,runs,"} {
		if !strings.Contains(states, "\n"+state) {
			t.Errorf("no %q in\n%s", state, states)
		}
	}
	j.fault("power 0")
	g.open()
	j.finish()
	if got := j.printed(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	if n := strings.Count(j.complained(), "is back after"); n != ranks {
		t.Errorf("%d processes were replaced, not %d", n, ranks)
	}
	nothingLeft(t, c)
}
