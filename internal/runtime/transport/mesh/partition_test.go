package mesh

import (
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

// Of two members of different sides, exactly one side goes on, whichever asks.
func TestStandings(t *testing.T) {
	var all []standing
	for live := 1; live < 4; live++ {
		for lowest := range proto.Proc(3) {
			for member := lowest; member < 4; member++ {
				all = append(all, standing{settled: true, live: live, lowest: lowest, member: member})
			}
		}
	}
	for _, a := range all {
		b := make([]byte, standingSize)
		a.encode(b)
		if got := decodeStanding(b, a.member); got != a {
			t.Errorf("%+v became %+v", a, got)
		}
		for _, o := range all {
			if a.member != o.member && a.beats(o) == o.beats(a) {
				t.Errorf("%+v and %+v: %v", a, o, a.beats(o))
			}
			if a.live > o.live && !a.beats(o) {
				t.Errorf("the larger side stops: %+v, %+v", a, o)
			}
		}
	}
	big := standing{live: 1<<24 - 1, lowest: 1<<24 - 2}
	b := make([]byte, standingSize)
	big.encode(b)
	if got := decodeStanding(b, 0); got.live != big.live || got.lowest != big.lowest || got.settled {
		t.Errorf("%+v became %+v", big, got)
	}
}

// evictions counts the eviction notices that a transport reports.
type evictions struct {
	witness
	count int
}

func (o *evictions) Closed(_ proto.Proc, why transport.Evidence) {
	if why == transport.EvidenceEviction {
		o.count++
	}
}

// partition makes processes fence and Tell others. It returns which processes were told to stop
// when all is settled.
func partition(t *testing.T, n int, fences, tells [][2]proto.Proc) []bool {
	t.Helper()
	transports := newTransports(t, n, func(c *Config) { c.Settle = 100 * time.Millisecond })
	for _, f := range fences {
		transports[f[0]].Fence(f[1])
	}
	told := make(chan struct{})
	for _, f := range tells {
		go func() { transports[f[0]].Tell(f[1]); told <- struct{}{} }()
	}
	for range tells {
		select {
		case <-told:
		case <-time.After(20 * time.Second):
			t.Fatal("Tell doesn't end")
		}
	}
	stopped := make([]bool, n)
	for p, tr := range transports {
		w := &evictions{witness: witness{t: t}}
		tr.Poll(w)
		stopped[p] = w.count > 0
	}
	return stopped
}

func TestTell(t *testing.T) {
	both := func(pairs ...[2]proto.Proc) (all [][2]proto.Proc) {
		for _, p := range pairs {
			all = append(all, p, [2]proto.Proc{p[1], p[0]})
		}
		return all
	}
	halves := both([2]proto.Proc{0, 2}, [2]proto.Proc{0, 3}, [2]proto.Proc{1, 2}, [2]proto.Proc{1, 3})
	hermit := both([2]proto.Proc{0, 1}, [2]proto.Proc{0, 2}, [2]proto.Proc{0, 3})
	for _, tc := range []struct {
		name          string
		fences, tells [][2]proto.Proc
		want          [4]bool
	}{
		{"one that doesn't know", [][2]proto.Proc{{0, 1}, {2, 1}, {3, 1}}, [][2]proto.Proc{{2, 1}}, [4]bool{1: true}},
		{"halves, all tell", halves, halves, [4]bool{2: true, 3: true}},
		{"halves, the upper half tells", halves, [][2]proto.Proc{{2, 0}, {3, 0}}, [4]bool{2: true, 3: true}},
		{"halves, the lower half tells", halves, [][2]proto.Proc{{0, 2}, {0, 3}}, [4]bool{2: true, 3: true}},
		{"the lowest alone", hermit, hermit, [4]bool{0: true}},
	} {
		got := partition(t, 4, tc.fences, tc.tells)
		if [4]bool(got) != tc.want {
			t.Errorf("%s: %v stop, want %v", tc.name, got, tc.want)
		}
	}
}

// A process that may still find others silent decides nothing. Otherwise both sides could stop,
// and the job would end.
func TestTellWaitsUntilSettled(t *testing.T) {
	for late := range 2 {
		transports := newTransports(t, 2, func(c *Config) {
			c.Settle = time.Millisecond
			if int(c.Self) == late {
				c.Settle = time.Hour
			}
		})
		told := make(chan proto.Proc, 2)
		for p, tr := range transports {
			tr.Fence(proto.Proc(1 - p))
			go func() { tr.Tell(proto.Proc(1 - p)); told <- proto.Proc(p) }()
		}
		time.Sleep(2 * tellMinPause)
		for p, tr := range transports {
			w := &evictions{witness: witness{t: t}}
			if tr.Poll(w); w.count > 0 {
				t.Errorf("%d, while %d isn't settled: told to stop", p, late)
			}
		}
		for _, tr := range transports {
			tr.Close()
		}
		for range transports {
			select {
			case <-told:
			case <-time.After(20 * time.Second):
				t.Fatal("Tell outlives its transport")
			}
		}
	}
}

// Tell ends if its peer has ended for certain, by the word of the kernel. That its connections are
// refused proves nothing: Tell goes on then, until its transport ends.
func TestTellOfTheDead(t *testing.T) {
	transports := newTransports(t, 2, func(c *Config) { c.Settle = time.Millisecond })
	tr, card := transports[0], transports[1].Card()
	tr.Fence(1)
	transports[1].Close()
	tell := func() chan struct{} {
		done := make(chan struct{})
		go func() { tr.Tell(1); close(done) }()
		return done
	}
	ends := func(done chan struct{}) {
		t.Helper()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("Tell waits for the dead")
		}
	}
	refused := tell()
	select {
	case <-refused:
		t.Error("Tell takes a refusal for the end of its peer")
	case <-time.After(3 * tellMinPause):
	}
	tr.Close()
	ends(refused)

	transports = newTransports(t, 2, func(c *Config) { c.Settle = time.Millisecond })
	tr = transports[0]
	tr.Fence(1)
	card.Start++ // no process with this number started then
	tr.dialler.resolve = func(proto.Proc) (Card, error) { return card, nil }
	ends(tell())
}
