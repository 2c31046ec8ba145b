package process

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/causal"
	"banyan/internal/proto/match"
)

// held makes a process of three ranks that holds some messages.
func held(t testing.TB, messages ...string) *Process {
	w := newTestJob(t, 1, layout.Uniform(3, 1), func(proto.Rank, int) program { return nil })
	p := w.nodes[1].p
	for i, body := range messages {
		p.hold(match.Envelope{Context: 2, Src: proto.Rank(i % 3), Tag: int32(i - 1)}, []byte(body))
	}
	return p
}

// hold puts a message among the unexpected ones.
func (p *Process) hold(e match.Envelope, body []byte) {
	ah, a := p.newArrival(e, uint64(len(body)))
	a.body = p.buffers.copyOf(body)
	p.match.Keep(e, ah.index)
}

// holds lists the unexpected messages.
func (p *Process) holds() (all []string) {
	p.match.EachUnexpected(func(token uint32) {
		_, a := p.receives.arrivals.at(token)
		all = append(all, fmt.Sprintf("%+v %s", a.envelope, a.body))
	})
	return all
}

// TestHeldMessagesComeBack loads a snapshot in a process to which something has come meanwhile.
func TestHeldMessagesComeBack(t *testing.T) {
	from := held(t, "zero", "", "second", "the last")
	b, err := from.HeldMessages(nil)
	if err != nil {
		t.Fatal(err)
	}
	to := held(t, "what came before the first safe point", "is dropped")
	if err := to.RestoreHeld(b); err != nil {
		t.Fatal(err)
	}
	if got, want := to.holds(), from.holds(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	again, err := to.HeldMessages(nil)
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("they aren't the same when they are kept again: %v", err)
	}
}

// TestOffersBelongToNoSnapshot: the data of a large message is with its sender, whose send isn't
// complete.
func TestOffersBelongToNoSnapshot(t *testing.T) {
	p := held(t, "small")
	ah, a := p.newArrival(match.Envelope{Context: 2, Src: 0, Tag: 7}, 1<<20)
	a.offered, a.from = true, 0
	p.match.Keep(a.envelope, ah.index)
	if _, err := p.HeldMessages(nil); err == nil {
		t.Error("a message without its data was kept")
	}
}

// TestWhatIsSentAgainIsNoPartOfASnapshot: a replica that was ahead of its siblings has sent
// something, and has died. Its siblings stand at the safe point before.
func TestWhatIsSentAgainIsNoPartOfASnapshot(t *testing.T) {
	w := newTestJob(t, 1, layout.Uniform(2, 2), func(proto.Rank, int) program { return nil })
	p := w.nodes[1].p
	sender := causal.New(0, 2)
	for _, body := range []string{"before", "behind"} {
		e := match.Envelope{Context: 2, Src: 0, Tag: 1}
		ah, a := p.newArrival(e, uint64(len(body)))
		a.body, a.stamp = p.buffers.copyOf([]byte(body)), make([]byte, sender.StampSize())
		sender.Stamp(a.stamp)
		p.match.Keep(e, ah.index)
	}
	sends := []uint64{1, 0}
	if err := p.Settled(sends); err != nil {
		t.Fatal(err)
	}
	b, err := p.HeldMessages(sends)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.RestoreHeld(b); err != nil {
		t.Fatal(err)
	}
	if got := p.holds(); len(got) != 1 || !strings.HasSuffix(got[0], "before") {
		t.Errorf("%q", got)
	}
	if _, err := p.HeldMessages(nil); err != nil {
		t.Error(err)
	}
	// What the program has received can't be taken back.
	stamp := make([]byte, sender.StampSize())
	sender.Stamp(stamp)
	p.clock.Received(stamp)
	if err := p.Settled(sends); err == nil || !strings.Contains(err.Error(), "rank 0 sends after its safe point") {
		t.Error(err)
	}
}

func FuzzRestoreHeld(f *testing.F) {
	b, _ := held(f, "a", "bc", "").HeldMessages(nil)
	f.Add(b)
	f.Add([]byte{})
	f.Add([]byte{1, 2, 9, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := held(t, "before")
		if p.RestoreHeld(b) != nil {
			return
		}
		again, err := p.HeldMessages(nil)
		if err != nil {
			t.Fatal(err)
		}
		q := held(t)
		if err := q.RestoreHeld(again); err != nil || !slices.Equal(p.holds(), q.holds()) {
			t.Errorf("%q became %q: %v", p.holds(), q.holds(), err)
		}
	})
}

// TestSuspectsAreAwaited: a process that is taken for dead lives until the launcher has killed it.
// It lacks what was sent to it last. So it waits for a marker, which it doesn't get, and isn't
// captured.
func TestSuspectsAreAwaited(t *testing.T) {
	w := newTestJob(t, 1, layout.Uniform(2, 2), func(proto.Rank, int) program { return nil })
	p := w.nodes[0].p
	p.Hearsay(1, 0)
	if p.Alive(1) {
		t.Fatal("it isn't taken for dead")
	}
	if to := p.Contacts(nil); !slices.Contains(to, 1) {
		t.Errorf("those that wait for a marker are %v", to)
	}
	sent := p.FramesSent
	if p.SendMarker(1, 2); p.FramesSent != sent {
		t.Error("it was sent a marker")
	}
}
