package cluster_test

import (
	"slices"
	"strings"
	"testing"
)

// When the console of a job that shall go on is killed, the next one shows the rest. What is shown
// twice is the end of what the first one has shown, if anything, because its stdout is a pipe.
func TestRunOutlivesItsConsole(t *testing.T) {
	c := beside(t)
	want := undisturbed(t, c, heat)
	over := slices.Insert(slices.Clone(overHosts), 2, "--on-console-loss=continue")
	g := slowly(t, c)
	first := start(t, c, command(over, heat)...)
	first.await("step 1000", 1)
	c.Fault(t, `pkill -KILL -f "^bin/banyan run"`) // that ends the first console
	if code := first.end(); code == 0 {
		t.Error("the console has ended with exit code 0")
	}
	second := start(t, c, "bin/banyan", "attach", "stdbuf") // other jobs may run on this machine
	until(t, "the second console shows something", func() bool { return second.printed() != "" || second.over() })
	g.open()
	second.finish()
	before, after := first.printed(), second.printed()
	if !strings.HasPrefix(want, before) || !strings.HasSuffix(want, after) || len(before)+len(after) < len(want) {
		t.Errorf("the first console has shown\n%s\nthe second\n%s\nand undisturbed it is\n%s", before, after, want)
	}
	if len(before)+len(after) > len(want)+32<<10 {
		t.Errorf("%d and %d bytes of %d are shown", len(before), len(after), len(want))
	}
	nothingLeft(t, c)
}
