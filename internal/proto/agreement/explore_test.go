package agreement

import (
	"testing"

	"banyan/internal/testing/explore"
)

const stateLimit = 20_000_000

func TestExhaustive(t *testing.T) {
	for _, c := range []struct {
		name string
		rules
	}{
		{"two", rules{members: 2, tree: star(2), rounds: 2, deaths: 1, overlap: true, close: true}},
		{"star", rules{members: 3, tree: star(3), rounds: 1, deaths: 2, close: true}},
		{"chain", rules{members: 3, tree: chain(3), rounds: 1, deaths: 2, close: true}},
		{"suspicion", rules{members: 3, tree: star(3), rounds: 1, deaths: 2, suspicion: true}},
		{"suspicion in a chain", rules{members: 3, tree: chain(3), rounds: 1, deaths: 2, suspicion: true}},
		{"two in flight", rules{members: 3, tree: chain(3), rounds: 2, deaths: 2, overlap: true}},
		{"one after the other", rules{members: 3, tree: chain(3), rounds: 2, deaths: 2}},
		{"four", rules{members: 4, tree: chain(4), rounds: 1, deaths: 2}},
		{"binomial", rules{members: 4, tree: binomial(4), rounds: 1, deaths: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stats, err := explore.All(c.rules.world(), stateLimit)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", stats)
		})
	}
}
