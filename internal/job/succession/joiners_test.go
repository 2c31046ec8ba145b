package succession

import (
	"testing"
	"time"

	"banyan/internal/job/launcher"
)

// A host is added whose agent falls silent before it has opened. Those that are added after it take
// part without waiting for it, and it takes part when its agent has opened, or is lost.
func TestJoiningWaitsForNoSilentHost(t *testing.T) {
	from, over, silent := make(chan launcher.Arrival), make(chan struct{}), make(chan struct{})
	defer close(over)
	introduced := make(chan string, 3)
	to := joining(from, over, func(a launcher.Arrival) func() {
		if a.Name == "silent" {
			<-silent
		}
		return func() { introduced <- a.Name }
	})
	next := func(want string) {
		t.Helper()
		select {
		case a := <-to:
			if a.Name != want {
				t.Fatalf("%s has come, not %s", a.Name, want)
			}
			if got := <-introduced; got != want { // before the launcher hears of it
				t.Fatalf("%s was introduced, not %s", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s doesn't come", want)
		}
	}
	from <- launcher.Arrival{Name: "silent"}
	for _, name := range []string{"b", "c"} {
		from <- launcher.Arrival{Name: name}
		next(name)
	}
	close(silent)
	next("silent")
	close(from) // more come no more, and that ends nothing
}
