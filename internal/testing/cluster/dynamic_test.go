package cluster_test

import (
	"strings"
	"testing"
)

// Programs spawn others on the hosts of their job, and on one that had nothing to do, and groups of
// ranks on several hosts connect. A child's death is an error for the parents.
func TestDynamicOverHosts(t *testing.T) {
	c := beside(t)
	for _, x := range [][]string{{"spawn", "3"}, {"ports", "4"}, {"errors", "2"}} {
		if out := c.Run(t, "bin/banyan", "run", "--timeout", "60", "--host", "h0,h1,h2,h3", "-n", x[1], "bin/dynamic", x[0]); out != x[0]+": good\n" {
			t.Errorf("%s: it printed\n%s", x[0], out)
		}
	}
	j := start(t, c, "bin/banyan", "run", "--host", "h0,h1,h2", "-n", "2", "bin/dynamic", "death")
	if code := j.end(); code != 137 {
		t.Errorf("exit code %d", code)
	}
	if said := j.complained(); j.printed() != "death: good\n" || strings.Count(said, "died: signal 9") != 1 {
		t.Errorf("it printed\n%s\nand said %s", j.printed(), said)
	}
	nothingLeft(t, c)
}
