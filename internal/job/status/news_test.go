package status

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"banyan/internal/proto"
)

// copied is what comes of something that is sent as JSON.
func copied[T any](t *testing.T, x *T) *T {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	y := new(T)
	if err := json.Unmarshal(text, y); err != nil {
		t.Fatal(err)
	}
	return y
}

// disturb has something happen at random.
func disturb(r *rand.Rand, o *Observation, at proto.Time) *Observation {
	next := o.after(at, func(slots []Slot) {
		for range r.IntN(3) {
			s := &slots[r.IntN(len(slots))]
			if s.State = []string{Live, Dead, Healing, Donor, Fenced, Starting}[r.IntN(6)]; s.State == Starting {
				s.Incarnation++
				s.Host = r.IntN(2)
				s.PID += 1000
			}
		}
	})
	for range r.IntN(3) {
		next.News = append(next.News, Event{At: seconds(at), Kind: []string{KindDeath, KindView, KindHealed}[r.IntN(3)], Process: new(r.IntN(len(o.Slots))),
			Text: fmt.Sprint(r.Uint64()), Cause: "signal", Took: 0.1, View: uint64(at)})
	}
	return next
}

// counted is what a process counts at random.
func counted(r *rand.Rand, o *Observation) (all []Sample) {
	for i := range o.Slots {
		if r.IntN(2) == 0 {
			all = append(all, Sample{Process: i, Incarnation: o.Slots[i].Incarnation, Stamp: r.Uint64(), Counters: Counters{Sent: r.Uint64N(1e6), WaitsFor: r.IntN(4) - 2}})
		}
	}
	return all
}

// A reader that hears the news and the updates has the State of the Tracker after each of them,
// also if there are more events than are kept.
func TestHearing(t *testing.T) {
	const rounds = MaxEvents * 9 / 8
	r := rand.New(rand.NewPCG(1, 2))
	tr, o := jobOf(4)
	tr.Observe(o)
	heard := copied(t, tr.State())
	for i := range rounds {
		at := proto.Time(i+1) * second
		o = disturb(r, o, at)
		if events := tr.Observe(o); len(events) > 0 {
			heard.Hear(copied(t, tr.State().News(events)))
		}
		if i%7 == 0 {
			changed, rate := tr.Sample(at, counted(r, o))
			s := tr.State()
			x := Update{At: s.At, Rate: rate, Totals: s.Totals, Survives: s.Survives, Circle: s.Circle, Counters: map[int]*Counters{}}
			for _, p := range changed {
				x.Counters[p] = s.Slots[p].Counters
			}
			heard.HearUpdate(copied(t, &x))
		}
		if i%997 != 0 && i < rounds-3 {
			continue
		}
		heard.At = tr.State().At // an observation without events isn't told
		if want := copied(t, tr.State()); !reflect.DeepEqual(copied(t, heard), want) {
			t.Fatalf("after %d observations it has\n%+v\nand the tracker\n%+v", i+1, heard.Slots, want.Slots)
		}
	}
	if len(heard.Events) == MaxEvents || len(heard.Base) == 0 {
		t.Errorf("%d events, base of %d: nothing was folded", len(heard.Events), len(heard.Base))
	}
}

// What makes no sense is left out, and nothing panics.
func TestHearingNonsense(t *testing.T) {
	tr, o := jobOf(1)
	tr.Observe(o)
	s := copied(t, tr.State())
	s.Hear(&News{Events: []Event{{Number: 9, Set: []Change{{Process: -1}, {Process: 1 << 40}, {Process: 1, State: Dead, Host: -7}}}}, PIDs: map[int]int{-3: 4}})
	s.HearUpdate(&Update{Counters: map[int]*Counters{-1: {}, 99: {}, 0: nil}, Circle: []int{-9}})
	if s.Slots[1].State != Dead || len(s.Slots) != 2 {
		t.Errorf("slots %+v", s.Slots)
	}
	next := Continue(*s)
	next.Observe(o.after(second, func([]Slot) {}))
}

// Another launcher's Tracker goes on: events keep their numbers, what was told isn't told again,
// what is new is, and the times before can still be looked at.
func TestContinue(t *testing.T) {
	tr, o := jobOf(2)
	tr.Observe(o)
	death := Event{At: 1, Kind: KindDeath, Process: new(3), Cause: "signal", Text: "rank 1 replica 1 (pid 103 on b) died"}
	warning := Event{At: 1.5, Kind: KindWarning, Text: "the disk is slow"}
	o = o.after(second, func(s []Slot) { s[3].State = Dead }, death, warning)
	tr.Observe(o)
	before := copied(t, tr.State())
	before.Old = true

	next := Continue(*before)
	takeover := Event{At: 5, Kind: KindLauncher, Text: "another launcher has taken over after 5s"}
	late := Event{At: 4, Kind: KindDeath, Process: new(2), Cause: "host lost", Text: "rank 0 replica 1 (pid 102 on b) died"}
	first := next.Observe(o.after(5*second, func(s []Slot) { s[2].State = Dead }, death, warning, late, takeover))
	if len(first) != 2 || first[0].Kind != KindDeath || *first[0].Process != 2 || first[1].Kind != KindLauncher || first[0].Number != 4 {
		t.Fatalf("the next launcher tells %+v", first)
	}
	if len(first[0].Set) != 1 || first[0].Set[0].Process != 2 {
		t.Errorf("it sets %+v", first[0].Set)
	}
	s := next.State()
	if s.Old || s.Totals.Deaths != 2 || len(s.Deaths) != 2 || len(s.Events) != 5 {
		t.Errorf("old %v, %d deaths of %v, %d events", s.Old, s.Totals.Deaths, s.Deaths, len(s.Events))
	}
	for at, want := range map[Seconds][]string{0: {Live, Live, Live, Live}, 2: {Live, Live, Live, Dead}, 5: {Live, Live, Dead, Dead}} {
		if got := replayed(s, at); !reflect.DeepEqual(got, want) {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
	again := next.Observe(o.after(6*second, func(s []Slot) { s[2].State = Dead }, warning))
	if len(again) != 1 {
		t.Errorf("a warning that comes again makes %+v", again)
	}
	if last := copied(t, s); len(last.Events) == 0 || last.Events[len(last.Events)-1].Number != s.Events[len(s.Events)-1].Number {
		t.Errorf("the events are %+v", last.Events)
	}
}
