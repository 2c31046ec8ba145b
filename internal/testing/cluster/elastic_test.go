package cluster_test

import (
	"fmt"
	"strings"
	"testing"
)

// longHeat computes for so long that an agent can come again.
var longHeat = []string{"stdbuf", "-oL", "bin/heat", "64", "1e-30", "60000"}

// Agents that come by themselves: first these, then their console, as pods may start in any order.
// A pod is deleted, and comes again, as Kubernetes does it. The job goes on, and the processes that
// it had are replaced there.
func TestAgentsComeByThemselves(t *testing.T) {
	want := undisturbed(t, longHeat)
	const key = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	agent := func(number int) string {
		return fmt.Sprintf("echo %s | ssh h%d 'cd %s && exec bin/banyan agent --join console:7117 --number %[2]d --zone z%[2]d' &\n", key, number, shared.Root)
	}
	run := "echo " + key + " | bin/banyan run --listen :7117 --agents 2 --key-file /dev/stdin -n 4 --replicas 2 --heal " + strings.Join(longHeat, " ")
	j := start(t, "sh", "-c", agent(1)+agent(0)+"sleep 1\n"+run)
	begun, _, _ := strings.Cut(want, "\n")
	j.await(begun, 1)
	j.fault("on 1 pkill -TERM -x banyan")
	again := start(t, "sh", "-c", agent(1)+"wait")
	j.finish()
	again.finish() // the console has ended the agent
	if got := j.printed(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	for text, times := range map[string]int{"host h1 is lost": 1, "host h1#2 has joined": 1, "is back after": ranks} {
		if n := strings.Count(j.complained(), text); n != times {
			t.Errorf("%q %d times, not %d", text, n, times)
		}
	}
	nothingLeft(t)
}
