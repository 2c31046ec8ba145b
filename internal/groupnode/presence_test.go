package groupnode

import (
	"testing"
	"time"

	"banyan/internal/proto/membership"
)

// The kernel knows whether a member of this host lives; of others nothing is known.
func TestPresence(t *testing.T) {
	t.Parallel()
	da := newViewLog()
	a := testJoin(t, testConfig("a", da))
	b := testJoin(t, testConfig("b", newViewLog(), a.Card().Address))
	da.await(t, 2)
	card := b.Card()
	if card.Home == (home{}) {
		t.Skip("this host's kernel can't tell")
	}
	elsewhere := card
	elsewhere.Home[0]++
	if a.hasEnded(card) {
		t.Error("a live member has ended")
	}
	b.Close()
	if !a.hasEnded(card) {
		t.Error("a member that ended hasn't")
	}
	if a.hasEnded(elsewhere) {
		t.Error("the kernel knows of a member of another host")
	}
}

// awaitStreams waits until a member has heard so many others on their streams: only then does the
// end of one mean something.
func awaitStreams(t *testing.T, m *Member, want int) {
	t.Helper()
	heard := make(chan int, 1)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		m.post(func() {
			n := 0
			for _, s := range m.streams {
				if s.heard {
					n++
				}
			}
			heard <- n
		})
		if n := <-heard; n >= want {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("%s hears %d of %d others", m.card.Name, n, want)
		}
	}
}

// A member that dies beside others is certainly dead, and known at once. To members on other hosts
// its address refuses connections, which proves nothing: it is silent, and they bear that for the
// time-out.
func TestHints(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{false, true} {
		var members []*Member
		var logs []*viewLog
		for _, name := range []string{"a", "b", "c"} {
			d := newViewLog()
			cfg := testConfig(name, d)
			cfg.Timeout, cfg.apart = 2*time.Second, apart
			if len(members) > 0 {
				cfg.Seeds = []string{members[0].Card().Address}
			}
			members, logs = append(members, testJoin(t, cfg)), append(logs, d)
		}
		for _, d := range logs {
			d.await(t, 3)
		}
		for _, m := range members {
			awaitStreams(t, m, 2)
		}
		at := time.Now()
		members[2].Close()
		v := logs[0].await(t, 2)
		took := time.Since(at)
		why := membership.Died
		if apart {
			why = membership.Silent
		}
		if len(v.Gone) != 1 || v.Gone[0].Why != why {
			t.Errorf("apart %v: gone %v, want one that %v", apart, v.Gone, why)
		}
		if apart && took < time.Second {
			t.Errorf("excluded after %v, though nobody knows that it is dead", took)
		}
		if members[1].Err() != nil {
			t.Errorf("apart %v: %v", apart, members[1].Err())
		}
	}
}
