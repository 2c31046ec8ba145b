package replica

import (
	"errors"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/testing/explore"
)

// TestCanaries: an explorer that finds nothing may be blind. It must find each of these
// mistakes, in a small job in which the correct machine has none, and in random schedules.
func TestCanaries(t *testing.T) {
	healing := options{dead: 0b100, heals: 1, donors: anyone, crashes: 1, victims: anyone}
	healingBoth := options{dead: 0b1100, heals: 2, donors: anyone, crashes: 1, victims: anyone, prompt: true}
	for _, c := range []struct {
		bug bug
		scenario
	}{
		{duplicatesAccepted, scenario{two, "s / r", options{crashes: 1, victims: senders}, false}},
		{acknowledgedAhead, scenario{two, "s s / r r", options{crashes: 1, victims: senders}, false}},
		{nothingRetained, scenario{two, "s / r", options{crashes: 1, victims: senders}, false}},
		{offersCountAsComplete, scenario{two, "o s / r r", options{crashes: 1, victims: senders}, false}},
		{highestAck, scenario{three, "s / r", options{crashes: 1, victims: chain}, false}},
		{inheritanceForgotten, scenario{three, "s / r", options{crashes: 2, victims: chain, prompt: true}, false}},
		{earlyAcksForgotten, scenario{two, "s / r", options{}, false}},
		{earlyAcksForgotten, scenario{two, "o / r", options{}, false}},
		{noReoffer, scenario{two, "o / r", options{crashes: 1, victims: senders}, false}},
		{noRedirect, scenario{two, "o / r", options{crashes: 1, victims: senders}, false}},
		{noSingles, scenario{two, "o / r", options{}, false}},
		{noRedirect, scenario{two, "o / r", options{mirror: true, crashes: 1, victims: senders}, false}},
		{noSingles, scenario{two, "o / r", options{mirror: true}, false}},

		{stateTooEarly, scenario{two, "r / s", healing, false}},
		{donorSubstitutes, scenario{layout.Partial([]int{3, 2}), "s / r",
			options{dead: 1 << 4, heals: 1, donors: 1, crashes: 2, victims: 0b101, prompt: true}, false}},
		{marksNotCopied, scenario{two, "r / s", healing, false}},
		{joiningForgotten, scenario{two, "r / s", healing, false}},
		{oldAcks, scenario{two, "r / s", options{heals: 1, donors: 1, crashes: 2, victims: 0b1100, prompt: true}, false}},
		{oldSingles, scenario{two, "r / o", options{heals: 1, donors: 1, crashes: 2, victims: 0b1100, prompt: true}, false}},
		{notAnew, scenario{two, "s / r", healing, false}},
		{noFlush, scenario{layout.Partial([]int{3, 1}), "o / r", options{dead: 1 << 3, heals: 1, donors: 1 << 2}, false}},
		{singlesNotDeferred, scenario{two, "o / r", healing, false}},
		{silentReplacement, scenario{two, "r / s", healing, false}},
		{latePrepare, scenario{two, "s / r", healing, false}},
		{noStop, scenario{two, "s / r", healing, false}},
		{joinedOnce, scenario{two, "s / r", healingBoth, false}},
		{joinedAtOnce, scenario{two, "s r / r s", healingBoth, false}},
		{foretoldForgotten, scenario{two, "s / r", healingBoth, false}},
		{joiningUntold, scenario{two, "s / r", healingBoth, false}},
		{neverReported, scenario{two, "r s / s r", options{mirror: true, skew: 1}, false}},
		{neverThrottled, scenario{two, "r s / s r", options{mirror: true, skew: 1}, false}},
		{deadAwaited, scenario{two, "r s / s r", options{mirror: true, skew: 1, crashes: 1, victims: anyone}, false}},
		{replacementUninformed, scenario{two, "r s r s / s r s r",
			options{mirror: true, skew: 1, crashes: 1, victims: 1, heals: 1, donors: anyone}, false}},
		{coversIgnored, scenario{layout.Partial([]int{2, 3}), "s / r", options{dead: 1, heals: 1, donors: anyone}, false}},
	} {
		t.Run(string(c.bug), func(t *testing.T) {
			t.Parallel()
			const part = 4_000 // TestExhaustive visits all of most such jobs
			if _, err := exploreAll(c.world(t), part, nil); err != nil && !errors.Is(err, explore.ErrLimit) {
				t.Fatalf("without the bug: %v", err)
			}
			c.options.bug = c.bug
			states, err := exploreAll(c.world(t), all, nil)
			if err == nil {
				t.Fatalf("not caught in %d states", states)
			}
			t.Logf("%d states: %v", states, err)
			for seed := uint64(0); run(seed, c.bug) == nil && !rare[c.bug]; seed++ {
				if seed == 3_000 {
					t.Fatalf("not caught in %d random schedules", seed)
				}
			}
		})
	}
}

// rare are the mistakes that random schedules seldom show.
var rare = map[bug]bool{donorSubstitutes: true, noFlush: true, oldAcks: true, oldSingles: true, joinedAtOnce: true}
