package recovery

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// Replicas that are replaced go on with the windows of their donors.
func TestRmaHeal(t *testing.T) {
	program := cprogram.Compile(t, "rmaheal")
	want := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", "2", program, "60")
	want.Fine(t)
	for _, order := range []string{"free", "leader"} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", "2", "--heal", "--order", order,
			"--fault", "kill rank=1 replica=0 at=send:20; kill rank=0 replica=1 at=send:60", program, "60")
		if o.Code != 0 || cprogram.Sorted(o.Stdout) != cprogram.Sorted(want.Stdout) || !strings.Contains(o.Stderr, "is back") {
			t.Errorf("--order %s: %v, want %v", order, o, want)
		}
	}
}
