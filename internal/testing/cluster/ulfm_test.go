package cluster_test

import (
	"strings"
	"testing"
)

// Programs that handle failures themselves go on when hosts die: their ranks shrink, or spares take
// the dead ones' places. Where the size is kept the output is byte for byte that of an undisturbed
// run; where it isn't, what the program has computed is the same.
func TestULFMOverHosts(t *testing.T) {
	c := beside(t)
	hosts := []string{"bin/banyan", "run", "--host", "h0,h1,h2,h3"}
	// So large that computing takes most of the time: then they take long enough on any machine.
	stencil := []string{"bin/stencil", "-cells", "400000", "-steps", "8000"}
	for _, f := range []struct {
		name, words, undo string
		flags, program    []string
		losses            int // hosts
		kept              bool
		short             bool
	}{
		{"shrinks, power cut", "power 1", "", []string{"-n", "4"}, stencil, 1, false, true},
		{"spares, power cut", "power 1", "", []string{"-n", "3", "--spare-ranks", "1"}, stencil, 1, true, true},
		{"shrinks, link down", "unplug 2", "plug 2", []string{"-n", "4"}, stencil, 1, false, false},
		{"shrinks, host stopped", "freeze 2", "thaw 2", []string{"-n", "4"}, stencil, 1, false, false},
		{"shrinks, process killed", "on 2 pkill -KILL -x stencil", "", []string{"-n", "4"}, stencil, 0, false, false},
		{"throws again, power cut", "power 2", "", []string{"-n", "4"}, []string{"bin/pi", "-batches", "1200"}, 1, false, true},
	} {
		if testing.Short() && !f.short {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			want := c.Run(t, command([]string{"bin/banyan", "run", "-n", f.flags[1]}, f.program)...)
			j := start(t, c, command(hosts, f.flags, f.program)...)
			name := strings.TrimPrefix(f.program[0], "bin/")
			until(t, "the job to start", func() bool { return living(t, c, name, 0, 1, 2, 3) == 4 })
			j.fault("sleep 1; " + f.words)
			j.finish()
			got := j.printed()
			if !f.kept { // how many were left isn't the same
				got, _, _ = strings.Cut(got, ", with")
				want, _, _ = strings.Cut(want, ", with")
			}
			if got != want {
				t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
			}
			said := j.complained()
			if !strings.Contains(said, "the program goes on without it") || strings.Count(said, "banyan: host h") != f.losses {
				t.Errorf("it said %s", said)
			}
			if f.undo != "" {
				c.Fault(t, f.undo)
			}
			nothingLeft(t, c)
		})
	}
}
