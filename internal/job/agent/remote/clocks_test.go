package remote

import (
	"testing"
	"time"

	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/wire"
	"banyan/internal/proto"
)

// How far an agent's clock is off is known from its hello on, before the request in it is taken: an
// agent may be traced as soon as it is there.
func TestClockOfAHello(t *testing.T) {
	const off = proto.Time(time.Hour)
	var hello wire.Greeting
	hello.Request.At = deadline.Now() - off
	r := newRemote(1, hello, Options{Lease: time.Minute})
	defer r.link.End(nil)
	if d := r.ahead() - off; d < 0 || d > proto.Time(time.Minute) {
		t.Errorf("our clock is ahead by an hour and %v", time.Duration(d))
	}
}
