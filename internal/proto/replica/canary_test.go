package replica

import "testing"

// TestCanaries: an explorer that finds nothing may be blind. It must catch each
// of these mistakes, in a small job in which the machine as it is has none, and
// in random schedules.
func TestCanaries(t *testing.T) {
	for _, c := range []struct {
		bug bug
		scenario
	}{
		{duplicatesAccepted, scenario{2, "s", "r", options{crashes: 1, victims: senders}, false}},
		{acknowledgedAhead, scenario{2, "s s", "r r", options{crashes: 1, victims: senders}, false}},
		{nothingRetained, scenario{2, "s", "r", options{crashes: 1, victims: senders}, false}},
		{offersCountAsComplete, scenario{2, "o s", "r r", options{crashes: 1, victims: senders}, false}},
		{highestAck, scenario{3, "s", "r", options{crashes: 1, victims: chain}, false}},
		{inheritanceForgotten, scenario{3, "s", "r", options{crashes: 2, victims: chain, prompt: true}, false}},
		{earlyAcksForgotten, scenario{2, "s", "r", options{}, false}},
		{earlyAcksForgotten, scenario{2, "o", "r", options{}, false}},
		{noReoffer, scenario{2, "o", "r", options{crashes: 1, victims: senders}, false}},
		{noRedirect, scenario{2, "o", "r", options{crashes: 1, victims: senders}, false}},
		{noSingles, scenario{2, "o", "r", options{}, false}},
	} {
		t.Run(string(c.bug), func(t *testing.T) {
			if _, err := explore(c.world(t)); err != nil {
				t.Fatalf("without the bug: %v", err)
			}
			c.options.bug = c.bug
			states, err := explore(c.world(t))
			if err == nil {
				t.Fatalf("not caught in %d states", states)
			}
			t.Log(err)
			for seed := uint64(0); run(seed, c.bug) == nil; seed++ {
				if seed == 3_000 {
					t.Fatalf("not caught in %d random schedules", seed)
				}
			}
		})
	}
}
