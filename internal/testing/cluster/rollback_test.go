package cluster_test

import (
	"strings"
	"testing"
)

// Jobs without replicas go back to their last snapshot when a host, and the memory in which it had
// snapshots, is lost: its ranks go on elsewhere from their buddy's copies. The output is byte for
// byte that of an undisturbed run.
func TestRunRollsBack(t *testing.T) {
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
			want := undisturbed(t, heat)
			g := slowly(t)
			j := start(t, command(rolling, heat)...)
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
				shared.Fault(t, f.undo)
			}
			nothingLeft(t)
		})
	}
}
