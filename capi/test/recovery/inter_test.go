package recovery

import (
	"testing"

	"banyan/internal/testing/cprogram"
)

// Replicas are replaced, and then their donors killed, while groups connect again and again over
// one peer communicator, and collectives run between them.
func TestInterHeals(t *testing.T) {
	program := cprogram.Compile(t, "interlosses")
	undisturbed := cprogram.Job(t, 3, program, "heals")
	undisturbed.Fine(t)
	for _, rank := range []int{0, 2} { // each leads
		o := heal(t, rank, nil, program, "heals")
		if o.Code != 0 || cprogram.Sorted(o.Stdout) != cprogram.Sorted(undisturbed.Stdout) {
			t.Errorf("rank %d: %v\nundisturbed:\n%s", rank, o, undisturbed.Stdout)
		}
	}
}
