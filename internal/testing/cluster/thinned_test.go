package cluster_test

import (
	"fmt"
	"strings"
	"testing"
)

// A job in leader order whose program handles failures.
var (
	ledFlags   = []string{"--order", "leader"}
	ledProgram = []string{"bin/stencil", "-cells", "400000", "-steps", "8000"}
)

// killRank is a fault: all processes of a rank are killed at once.
func killRank(rank int, at string) []string {
	return []string{"--fault", fmt.Sprintf("kill rank=%d replica=0 at=%s; kill rank=%d replica=1 at=%s", rank, at, rank, at)}
}

// sameButRanks says that the outputs are the same but for how many ranks were left, and that some
// rank was lost.
func sameButRanks(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, "with 3 of 4 ranks") && !strings.Contains(got, "with 2 of 4 ranks") {
		t.Errorf("no rank was lost: %s", got)
	}
	g, _, _ := strings.Cut(got, ", with")
	w, _, _ := strings.Cut(want, ", with")
	if g != w {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
}

// A job in leader order loses a rank, and goes on with one replica of each other one, on several
// hosts: when the rank's processes die, when a host does that has its last one, and when
// replacements are being made.
func TestThinnedOverHosts(t *testing.T) {
	c := beside(t)
	want := c.Run(t, command([]string{"bin/banyan", "run", "-n", "4"}, ledProgram)...)
	for _, f := range []struct {
		name  string
		flags []string
		words string
		short bool
	}{
		{"a rank is killed", killRank(2, "1s"), "", true},
		{"its last host dies", []string{"--fault", "kill rank=1 replica=0 at=1s"}, "sleep 2; power 2", false},
		{"another rank is killed later", []string{"--fault", killRank(2, "1s")[1] + "; " + killRank(0, "3s")[1]}, "", false},
		{"replacements are made", append([]string{"--heal"}, killRank(2, "1s")...), "", false},
	} {
		if testing.Short() && !f.short {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			j := start(t, c, command(overHosts, ledFlags, f.flags, ledProgram)...)
			if f.words != "" {
				j.fault(f.words)
			}
			j.finish()
			sameButRanks(t, j.printed(), want)
			said := j.complained()
			if !strings.Contains(said, "goes on with one replica of each rank") {
				t.Errorf("it said %s", said)
			}
			if lost := strings.Count(said, "is lost, and the program goes on"); lost != strings.Count(strings.Join(f.flags, " "), "replica=1")+strings.Count(f.words, "power") {
				t.Errorf("%d ranks are lost: %s", lost, said)
			}
			nothingLeft(t, c)
		})
	}
}

// The launcher of such a job is killed before the loss, together with the rank, and afterwards.
func TestThinnedJobOutlivesItsLauncher(t *testing.T) {
	c := beside(t)
	want := c.Run(t, command([]string{"bin/banyan", "run", "-n", "4"}, ledProgram)...)
	for _, f := range []struct {
		name, words string
		short       bool
	}{
		{"before", "sleep 1; " + killLauncher, false},
		{"at once", "sleep 2; " + killLauncher, true},
		{"afterwards", "sleep 4; " + killLauncher, false},
	} {
		if testing.Short() && !f.short {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			d := detach(t, c, "h0:2,h1:2,h2:2,h3:2", command(ledFlags, killRank(2, "2s")), ledProgram)
			c.Fault(t, f.words)
			host := d.lead("")
			r := d.end()
			if r.ExitCode != 0 || r.Outcome != "completed" {
				t.Errorf("the report says %+v", r)
			}
			sameButRanks(t, d.read(), want)
			d.gone(host)
		})
	}
}
