package console

import (
	"strings"
	"testing"
)

// Spawned jobs are listed behind those that have spawned them, and what was told before stays.
func TestSpawned(t *testing.T) {
	i := Info{Name: "farm"}
	for _, n := range []string{"2", "10", "1", "2.1", "1.10", "1.2"} {
		i.SetSpawned(Spawned{Number: n, Processes: 1})
	}
	names := func(i Info) string {
		var all []string
		i.Each(func(j *Info) { all = append(all, j.Name) })
		return strings.Join(all, " ")
	}
	before, want := i, "farm farm/1 farm/1.2 farm/1.10 farm/2 farm/2.1 farm/10"
	if got := names(i); got != want {
		t.Error(got)
	}
	i.SetSpawned(Spawned{Number: "2", Processes: 7})
	i.DropSpawned("1.2")
	if got := names(i); got != "farm farm/1 farm/1.10 farm/2 farm/2.1 farm/10" || i.Spawned[2].Processes != 7 {
		t.Error(got, i.Spawned)
	}
	if got := names(before); got != want || before.Spawned[3].Processes != 1 {
		t.Error("what was told has changed:", got)
	}
}
