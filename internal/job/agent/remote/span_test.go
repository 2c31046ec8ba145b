package remote

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
)

// recordingFake is a fake whose processes record the span itself.
type recordingFake struct {
	*fake
	asked chan agent.Span
	err   error
}

func (f *recordingFake) Trace(_ context.Context, s agent.Span) (agent.Recording, error) {
	f.asked <- s
	return agent.Recording{Trace: []byte(strings.Repeat("a line\n", 100_000)), Processes: 3, Full: 1}, f.err
}

// A span of time is asked of the agent by its own clock, and what comes back is whole.
func TestTraceSpan(t *testing.T) {
	f := &recordingFake{fake: newFake("h1"), asked: make(chan agent.Span, 1)}
	l := listen(t, Options{})
	go Serve(soon(t), Config{Addresses: l.Addresses(), Number: 1, Key: l.key, Agent: f})
	r, err := l.Expect(soon(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now().UnixNano()
	got, err := r.Trace(soon(t), agent.Span{Begin: begin, From: 5, Until: 9})
	if err != nil || got.Processes != 3 || got.Full != 1 || len(got.Trace) != 700_000 {
		t.Errorf("%d processes, %d full, %d bytes: %v", got.Processes, got.Full, len(got.Trace), err)
	}
	s := <-f.asked
	if d := time.Duration(s.Begin - begin); s.From != 5 || s.Until != 9 || d < -time.Second || d > time.Second {
		t.Errorf("the agent, on the same clock, is asked for %+v, %v off", s, d)
	}
	f.err = errors.New("no directory")
	if _, err := r.Trace(soon(t), agent.Span{}); err == nil || err.Error() != "no directory" {
		t.Errorf("%v", err)
	}
	<-f.asked
	if _, err := newRig(t, Options{}).remote.Trace(soon(t), agent.Span{}); err == nil || !strings.Contains(err.Error(), "can't record") {
		t.Errorf("an agent that can't: %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	for _, text := range []string{"", "a", strings.Repeat("ab", 5000)} {
		b, err := pack([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := unpack(b)
		if err != nil {
			return
		}
		again, err := pack(text)
		if err != nil {
			return
		}
		if back, err := unpack(again); err != nil || !bytes.Equal(back, text) {
			t.Errorf("%d bytes are %d after packing: %v", len(text), len(back), err)
		}
	})
}
