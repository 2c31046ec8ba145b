package cluster_test

import (
	"fmt"
	"strings"
	"testing"
)

// Jobs go back to their last snapshot when a host, and the memory in which it had
// snapshots, is lost: its ranks go on elsewhere from their buddy's copies. The output is byte for
// byte that of an undisturbed run.
func TestRunRollsBack(t *testing.T) {
	c := beside(t)
	rolling := []string{"bin/banyan", "run", "--host", "h0:2,h1:2,h2:2,h3:2", "--spare-hosts", "2", "-n", "4", "--rollback", "--snapshot-every", "500ms"}
	for _, f := range []struct {
		name, words, undo string
		losses            int // hosts
		back              int // how often the job goes back, at least
		short             bool
	}{
		{"processes killed", "on 1 pkill -KILL -x heat; sleep 1.5; on 0 pkill -KILL -x heat", "", 0, 1, false},
		{"power cut", "power 1", "", 1, 1, true},
		{"two power cuts", "power 1; sleep 8; power 0", "", 2, 2, false},
		{"link down", "unplug 1", "plug 1", 1, 1, false},
		{"host stopped", "freeze 1", "thaw 1", 1, 1, false},
		{"link down for 2 s", "unplug 1; sleep 2; plug 1", "", 0, 0, false},
	} {
		if testing.Short() && !f.short {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			want := undisturbed(t, c, heat)
			g := slowly(t, c)
			j := start(t, c, command(rolling, heat)...)
			j.await("step 2000", 1) // 10 s have passed: there are snapshots
			j.fault(f.words)
			if f.back > 0 {
				j.awaitTold("it goes back to snapshot ", f.back)
			}
			g.open()
			j.finish()
			if got := j.printed(); got != want {
				t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
			}
			said := j.complained()
			if strings.Contains(said, "other bytes") || strings.Count(said, "banyan: host h") != f.losses ||
				f.losses > 0 && !strings.Contains(said, "it goes back to snapshot ") {
				t.Errorf("it said %s", said)
			}
			if f.undo != "" {
				c.Fault(t, f.undo)
			}
			nothingLeft(t, c)
		})
	}
}

// A job with replicas on several hosts goes on when one host is lost, and goes back when a rank
// has no replica left: what ran on the lost host starts again elsewhere, with the part of a
// sibling. The output is byte for byte that of an undisturbed run.
func TestReplicasRollBack(t *testing.T) {
	c := beside(t)
	both := []string{"bin/banyan", "run", "--host", "h0:3,h1:3,h2:8", "-n", "4", "--replicas", "2", "--rollback", "--snapshot-every", "500ms"}
	for _, f := range []struct {
		name, words string
		more        []string // flags
		short       bool
	}{
		{"power cut, then processes killed", "power 1; sleep 8; on 0 pkill -KILL -x heat; on 2 pkill -KILL -x heat", nil, true},
		{"the same, with replacements", "power 1; sleep 10; on 0 pkill -KILL -x heat; on 2 pkill -KILL -x heat", []string{"--heal"}, false},
		{"the same, in leader order", "power 1; sleep 8; on 0 pkill -KILL -x heat; on 2 pkill -KILL -x heat", []string{"--order", "leader"}, false},
		{"two power cuts", "power 1; sleep 8; power 0", nil, false},
		{"two power cuts, in leader order", "power 1; sleep 8; power 0", []string{"--order", "leader"}, false},
	} {
		if testing.Short() && !f.short {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			want := undisturbed(t, c, heat)
			g := slowly(t, c)
			j := start(t, c, command(both, f.more, heat)...)
			j.await("step 2000", 1)
			j.fault(f.words)
			j.awaitTold("it goes back to snapshot ", 1)
			g.open()
			j.finish()
			if got := j.printed(); got != want {
				t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
			}
			if said := j.complained(); strings.Contains(said, "other bytes") || !strings.Contains(said, "host h1 is lost") ||
				!strings.Contains(said, "no other replica of it is left: it goes back to snapshot ") {
				t.Errorf("it said %s", said)
			}
			for host := range 3 {
				if strings.Contains(f.words, fmt.Sprintf("power %d", host)) {
					c.Fault(t, fmt.Sprintf("boot %d", host))
				}
			}
			nothingLeft(t, c)
		})
	}
}
