package comm

import (
	"testing"

	"banyan/internal/runtime/engine"
)

// Members that exchange data offer it if it is large and they read each other's memory. Replicas
// send as they did.
func TestExchangesOffer(t *testing.T) {
	for _, c := range []struct {
		shared, copies bool
		bytes          int
		want           engine.StepKind
	}{
		{true, false, offeredFrom, engine.StepOffer},
		{true, false, offeredFrom - 1, engine.StepSend},
		{false, false, 2 * offeredFrom, engine.StepSend},
		{true, true, 2 * offeredFrom, engine.StepSend},
	} {
		w := modelWorld(2)[0]
		w.shared, w.copies = c.shared, c.copies
		p := w.plan("test")
		p.exchange(1, make([]byte, c.bytes), 1, make([]byte, c.bytes))
		if got := p.s.Steps()[0].Kind; got != c.want {
			t.Errorf("%+v: the first step is of kind %d", c, got)
		}
	}
}
