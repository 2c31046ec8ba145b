package survival

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// Replicas are killed while groups are connected and collectives run between them: all ranks
// compute what they compute undisturbed.
func TestInterKills(t *testing.T) {
	program := cprogram.Compile(t, "inter")
	undisturbed := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", program, "loop")
	undisturbed.Fine(t)
	for replicas, faults := range map[int]string{
		2: "kill rank=0 at=send:400; kill rank=2 replica=1 at=send:2000",
		3: "kill rank=1 replica=2 at=send:90; kill rank=0 at=send:1500; kill rank=0 replica=1 at=send:3000",
	} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", fmt.Sprint(replicas), "--env", "REPLICATED=1", "--fault", faults, program, "loop")
		o.Fine(t)
		if cprogram.Sorted(o.Stdout) != cprogram.Sorted(undisturbed.Stdout) || strings.Count(o.Stderr, "died") < 2 && strings.Count(o.Stderr, "killed") < 2 {
			t.Errorf("%d replicas: %v\nundisturbed:\n%s", replicas, o, undisturbed.Stdout)
		}
	}
}

// A program that handles failures itself revokes, agrees and shrinks between groups.
func TestInterDies(t *testing.T) {
	o := cprogram.Job(t, 6, cprogram.Compile(t, "interlosses"), "dies")
	if o.Code != 0 || strings.Count(o.Stdout, "goes on") != 5 {
		t.Error(o)
	}
	o.NoTrace(t)
}
