package comm

import "testing"

// No two contexts of a communicator are one, nor belong to another's pair.
func TestBranches(t *testing.T) {
	all := map[string]uint64{
		"spread": spreadBranch, "shrink": shrinkBranch, "refill": refillBranch, "retry": retryBranch,
		"inter": interBranch, "parts": partsBranch, "a kept plan": keptBranch | 1, "another": keptBranch | 2, "a split": 1, "the next": 2,
	}
	for i := range uint64(backgroundLanes) {
		all["lane "+string(rune('0'+i))] = laneBranch | i
	}
	const parent = 2
	names := map[uint64]string{parent: "the communicator"}
	for name, branch := range all {
		context := branchOf(parent, branch) &^ collectivePart
		if other, is := names[context]; is {
			t.Errorf("%s and %s have one context", name, other)
		}
		names[context] = name
	}
}
