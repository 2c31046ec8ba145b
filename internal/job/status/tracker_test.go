package status

import (
	"fmt"
	"slices"
	"testing"

	"banyan/internal/proto"
)

const second = proto.Time(1e9)

// jobOf makes a tracker of a job and the observation of its beginning: each rank has two replicas,
// on two hosts.
func jobOf(ranks int) (*Tracker, *Observation) {
	o := &Observation{Hosts: []Host{{Name: "a", State: HostRuns}, {Name: "b", State: HostRuns}}}
	for k := range 2 {
		for r := range ranks {
			o.Slots = append(o.Slots, Slot{Rank: r, Replica: k, Host: k, PID: 100 + len(o.Slots), State: Live})
		}
	}
	return NewTracker(Job{Name: "x", Ranks: ranks, Replicas: 2}), o
}

// after makes the observation at a later time.
func (o *Observation) after(at proto.Time, change func(slots []Slot), news ...Event) *Observation {
	next := &Observation{At: at, Hosts: slices.Clone(o.Hosts), Slots: slices.Clone(o.Slots), News: news}
	change(next.Slots)
	return next
}

// replayed is what a reader of the state makes of base and events at a time.
func replayed(s *State, at Seconds) (states []string) {
	slots := slices.Clone(s.Base)
	for _, e := range s.Events {
		if e.At <= at {
			slots = apply(slots, e.Set, len(s.Slots))
		}
	}
	for _, c := range slots {
		states = append(states, c.State)
	}
	return states
}

// Events lead from the beginning to the present state, and to each one between.
func TestEventsLeadToState(t *testing.T) {
	tr, o := jobOf(2)
	if first := tr.Observe(o); len(first) != 1 || first[0].Kind != KindStart || len(first[0].Set) != 4 {
		t.Fatalf("the first events are %+v", first)
	}
	if again := tr.Observe(o.after(second/2, func([]Slot) {})); len(again) != 0 {
		t.Errorf("nothing has happened, and there are %+v", again)
	}
	dead := o.after(second, func(s []Slot) { s[3].State = Dead }, Event{At: 1, Kind: KindDeath, Process: new(3)})
	if e := tr.Observe(dead); len(e) != 1 || e[0].Number != 2 || len(e[0].Set) != 1 || e[0].Set[0] != (Change{Process: 3, State: Dead, Host: 1}) {
		t.Fatalf("a death makes %+v", e)
	}
	healing := dead.after(2*second, func(s []Slot) { s[3].State = Healing })
	if e := tr.Observe(healing); len(e) != 1 || e[0].Kind != KindChange {
		t.Fatalf("a change without news makes %+v", e)
	}
	tr.Observe(healing.after(3*second, func(s []Slot) { s[3].State, s[3].Incarnation, s[3].Host = Live, 1, 0 },
		Event{At: 2.9, Kind: KindHealed, Process: new(3), Took: 0.9}, Event{At: 3, Kind: KindView, View: 3, Members: 4}))
	s := tr.State()
	if s.Totals.Deaths != 1 || s.Totals.Heals != 1 || s.Totals.HealSeconds != 0.9 || s.View != 3 || s.Members != 4 {
		t.Errorf("totals %+v, view %d of %d", s.Totals, s.View, s.Members)
	}
	for at, want := range map[Seconds]string{0: Live, 0.99: Live, 1: Dead, 2: Healing, 3: Live} {
		if got := replayed(s, at); got[3] != want || got[0] != Live {
			t.Errorf("at %v the slots are %v, want %s", at, got, want)
		}
	}
	if s.Slots[3].Since != 3 || s.Slots[0].Since != 0 {
		t.Errorf("since %v and %v", s.Slots[3].Since, s.Slots[0].Since)
	}
}

// Only the last events are kept, and the base makes up for the others.
func TestEventsAreBounded(t *testing.T) {
	tr, o := jobOf(1)
	tr.Observe(o)
	states := []string{Dead, Healing, Live}
	for i := range 3 * MaxEvents {
		o = o.after(proto.Time(i+1)*second, func(s []Slot) { s[1].State = states[i%3] })
		tr.Observe(o)
		if s := tr.State(); len(s.Events) > MaxEvents {
			t.Fatalf("%d events are kept", len(s.Events))
		}
	}
	s := tr.State()
	for back := range MaxEvents / 2 {
		at := 3*MaxEvents - back
		if got := replayed(s, Seconds(at)); got[1] != states[(at-1)%3] || got[0] != Live {
			t.Fatalf("at %d s the slots are %v", at, got)
		}
	}
	if n := s.Events[len(s.Events)-1].Number; n != 3*MaxEvents+1 {
		t.Errorf("the last event has number %d", n)
	}
}

func TestSurvival(t *testing.T) {
	for _, test := range []struct {
		states string // of replica 0 of each rank, then of replica 1
		want   string // any, most, unprotected, hosts, lost
	}{
		{"llll", "1 2 [] true []"},
		{"dlll", "0 1 [0] false []"},
		{"hlld", "0 0 [0 1] false []"},
		{"dldl", "0 1 [] true [0]"},
		{"flfl", "1 1 [] true []"}, // rank 0 has left
		{"lsll", "1 2 [] true []"},
	} {
		tr, o := jobOf(2)
		for i, c := range test.states {
			o.Slots[i].State = map[rune]string{'l': Live, 'd': Dead, 'h': Healing, 'f': Finished, 's': Silent}[c]
		}
		tr.Observe(o)
		s := tr.State().Survives
		if got := fmt.Sprint(s.Any, s.Most, s.Unprotected, s.Hosts, s.Lost); got != test.want {
			t.Errorf("%s: %s, want %s", test.states, got, test.want)
		}
	}
	tr, o := jobOf(2)
	o.Slots[2].State = Dead
	tr.Observe(o)
	if s := tr.State(); s.Hosts[0].Alone != 1 || s.Hosts[1].Alone != 0 {
		t.Errorf("hosts %+v", s.Hosts)
	}
}

// Processes that stop counting are shown as silent, and as live when they count again.
func TestSilence(t *testing.T) {
	tr, o := jobOf(1)
	tr.Observe(o)
	sample := func(at, stamp int) {
		tr.Sample(proto.Time(at)*second, []Sample{{Process: 0, Stamp: uint64(at)}, {Process: 1, Stamp: uint64(stamp)}, {Process: 7}, {Process: 0, Incarnation: 9}})
		tr.Observe(o.after(proto.Time(at)*second+1, func([]Slot) {}))
	}
	for at := 1; at <= 5; at++ {
		sample(at, 1)
	}
	s := tr.State()
	if s.Slots[0].State != Live || s.Slots[1].State != Silent || s.Slots[1].Counters.Silence != 4 {
		t.Errorf("slots %+v, %+v", s.Slots[0], s.Slots[1])
	}
	if sample(6, 2); tr.State().Slots[1].State != Live {
		t.Errorf("it counts again, and is %s", tr.State().Slots[1].State)
	}
}

func TestRates(t *testing.T) {
	tr, o := jobOf(1)
	tr.Observe(o)
	at := func(s int, sent uint64) *Rate {
		_, rate := tr.Sample(proto.Time(s)*second, []Sample{{Process: 0, Stamp: uint64(s), Counters: Counters{Sent: sent, Bytes: 8 * sent}}})
		return rate
	}
	if at(1, 100) != nil {
		t.Error("the first sample has a rate")
	}
	if r := at(3, 300); r == nil || r.Messages != 100 || r.Bytes != 800 {
		t.Errorf("rate %+v", r)
	}
	if r := at(4, 10); r == nil || r.Messages != 0 {
		t.Errorf("counts that fall give %+v", r)
	}
	for s := 5; s < 5+2*MaxRates; s++ {
		at(s, uint64(s))
	}
	if n := len(tr.State().Rates); n != MaxRates {
		t.Errorf("%d rates are kept", n)
	}
}

func TestCircle(t *testing.T) {
	for _, test := range []struct {
		waits []int // for whom each of the processes waits; -9: it doesn't
		ranks int
		want  string
	}{
		{[]int{1, 0, 1, 0}, 2, "[0 1]"},
		{[]int{1, 0, 1, -9}, 2, "[]"}, // a replica of rank 1 goes on
		{[]int{1, 2, 3, 1}, 4, "[1 2 3]"},
		{[]int{1, 2, AnyRank}, 3, "[]"},
		{[]int{0, 1}, 2, "[]"}, // for itself: a message that is under way
		{[]int{5, -7}, 2, "[]"},
		{nil, 0, "[]"},
	} {
		var slots []Slot
		for i, w := range test.waits {
			s := Slot{Rank: i % max(1, test.ranks), State: Live, Counters: &Counters{Waits: "waits", WaitsFor: w}}
			if w == -9 {
				s.Counters = nil
			}
			slots = append(slots, s)
		}
		if got := fmt.Sprint(circle(slots, test.ranks)); got != test.want {
			t.Errorf("%v: %s, want %s", test.waits, got, test.want)
		}
	}
}
