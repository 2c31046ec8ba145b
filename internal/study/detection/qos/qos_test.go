package qos

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/study/field"
)

const millisecond = proto.Time(1e6)

func calm() Scenario {
	return Scenario{
		Nodes: 32, Period: 100 * millisecond, Tau: millisecond,
		Retransmit: 200 * millisecond, StallEvery: 10_000 * millisecond, Deaths: 1,
	}
}

func small(scenes ...Scenario) Spec {
	return Spec{
		Scenarios: scenes, Systems: []System{Ring, RingStream, Swim, SwimRoundRobin},
		Timeouts: []float64{2.5}, Suspicions: []float64{4}, Mediators: []int{3},
		Detections: 100, Watches: 4, WatchPeriods: 300, Seed: 1, Workers: 2,
	}
}

func compare(t *testing.T, s Spec) []Row {
	t.Helper()
	rows, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func find(t *testing.T, rows []Row, system System) *Row {
	t.Helper()
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Subject.System == system })
	if i < 0 {
		t.Fatalf("no row for %v", system)
	}
	return &rows[i]
}

// Without loss and load no process makes a mistake, every death is detected, every process
// sends one message for each η, and the times are as in theory.
func TestCalm(t *testing.T) {
	rows := compare(t, small(calm()))
	for _, r := range rows {
		name := r.Subject.System.String()
		if r.Mistakes.Events != 0 || r.Accuracy != 1 || r.Undetected+r.Wrongly != 0 || r.First.Count != 100 {
			t.Errorf("%s: %+v", name, r)
		}
		if math.Abs(r.Messages-1) > 0.01 {
			t.Errorf("%s: %g messages for each node and η, want 1", name, r.Messages)
		}
		first := 2.0 // δ − η/2, and no more than δ + τ
		if !r.Subject.System.isRing() {
			// A member is probed once a period on average. The first probe after a death comes
			// a period later on average, another period passes before it is judged, and then
			// the suspicion has its time. Where members probe in turn the mean is less, since
			// those that have just probed it don't do so again soon.
			first = (1 + 1 + 4) * float64(r.Subject.SwimPeriod) / 1e8
		}
		if r.First.Mean < first*0.93 || r.First.Mean > first*1.07 {
			t.Errorf("%s: the first knows after %g [%g, %g], want about %g", name, r.First.Mean, r.First.Low, r.First.High, first)
		}
		if r.All.Mean < r.First.Mean || r.Subject.System.isRing() && r.First.Max > 2.5+0.02 {
			t.Errorf("%s: %+v, %+v", name, r.First, r.All)
		}
	}
	// Without loss, datagrams and streams don't differ.
	a, b := *find(t, rows, Ring), *find(t, rows, RingStream)
	b.Subject = a.Subject
	if !reflect.DeepEqual(a, b) {
		t.Errorf("datagrams %+v, streams %+v", a, b)
	}
}

// The ring over datagrams is wrong when as many heartbeats in a row are lost as fit into δ:
// p²(1 − p) of all with δ = 2.5η.
func TestRingUnderLoss(t *testing.T) {
	lossy := calm()
	lossy.Loss = 0.05
	s := small(lossy)
	s.Systems = []System{Ring}
	s.Watches = 60
	r := compare(t, s)[0]
	if want := 0.05 * 0.05 * 0.95; r.Mistakes.Rate < 0.8*want || r.Mistakes.Rate > 1.25*want {
		t.Errorf("%d mistakes, %g for each node and η, want about %g", r.Mistakes.Events, r.Mistakes.Rate, want)
	}
	if r.Fatal < r.Mistakes.Events*9/10 || r.Accuracy >= 1 {
		t.Errorf("%d mistakes, %d fatal, accuracy %g", r.Mistakes.Events, r.Fatal, r.Accuracy)
	}
}

// More patience means fewer mistakes and slower detection for both systems, under loss and
// load.
func TestPatience(t *testing.T) {
	lossy, loaded := calm(), calm()
	lossy.Loss = 0.1
	loaded.Stall = 200 * millisecond
	s := small(lossy, loaded)
	s.Systems = []System{Ring, Swim}
	s.Timeouts, s.Suspicions = []float64{1.5, 4.5}, []float64{0, 12}
	rows := compare(t, s)
	for i := 0; i < len(rows); i += 2 {
		hasty, patient := rows[i], rows[i+1]
		if hasty.Mistakes.Rate < 2*patient.Mistakes.Rate || hasty.Mistakes.Events == 0 {
			t.Errorf("%v: mistakes %+v and %+v", hasty.Subject, hasty.Mistakes, patient.Mistakes)
		}
		if hasty.First.Mean >= patient.First.Mean {
			t.Errorf("%v: %g and %g until the first knows", hasty.Subject, hasty.First.Mean, patient.First.Mean)
		}
	}
}

// Where two neighbours can't hear each other, the ring loses one of them, and SWIM finds a way
// round.
func TestCutLinks(t *testing.T) {
	cut := calm()
	cut.Cut = 0.03
	rows := compare(t, small(cut))
	if r := find(t, rows, Ring); r.Fatal == 0 {
		t.Errorf("ring: %+v", r)
	}
	if r := find(t, rows, Swim); r.Mistakes.Events != 0 {
		t.Errorf("SWIM: %+v", r.Mistakes)
	}
}

// Neighbours that die together take the ring (2m − 1)δ at most, one after the other. They take
// SWIM hardly more than one death does.
func TestNeighbours(t *testing.T) {
	scene := calm()
	scene.Deaths = 3
	rows := compare(t, small(scene))
	r := find(t, rows, Ring)
	if r.All.Count != 100 || r.All.Max > 5*2.5+0.2 || r.All.Max < 4*2.5 {
		t.Errorf("ring: all know after %+v", r.All)
	}
	one, three := find(t, compare(t, small(calm())), Swim), find(t, rows, Swim)
	if three.All.Mean > 1.25*one.All.Mean {
		t.Errorf("SWIM: %g until all know of one, %g of three", one.All.Mean, three.All.Mean)
	}
}

// The rows depend on the seed, not on the number of workers.
func TestReproducible(t *testing.T) {
	scene := calm()
	scene.Loss, scene.Stall = 0.05, 100*millisecond
	s := small(scene)
	s.Detections, s.Watches, s.WatchPeriods = 10, 3, 50
	s.Workers = 1
	one := compare(t, s)
	s.Workers = 3
	if three := compare(t, s); !reflect.DeepEqual(one, three) {
		t.Error("the number of workers makes a difference")
	}
	s.Seed = 2
	if other := compare(t, s); reflect.DeepEqual(one, other) {
		t.Error("the seed makes none")
	}
}

// On a stream nothing is lost, and nothing overtakes.
func TestStreams(t *testing.T) {
	scene := calm()
	scene.Loss = 0.3
	s := newStreams[int](&scene, 1)
	var got []int
	take := func(now proto.Time) {
		for {
			_, m, ok := s.due(now, 0)
			if !ok {
				return
			}
			got = append(got, m)
		}
	}
	delayed := 0
	for i := range 1000 {
		now := proto.Time(i) * 50 * millisecond
		take(now)
		if s.delay(now, 0, 1, &i) {
			delayed++
		} else {
			got = append(got, i)
		}
	}
	if s.next(0) == proto.Never {
		take(0)
	}
	take(proto.Never)
	if len(got) != 1000 || !slices.IsSorted(got) {
		t.Errorf("%d of 1000 arrive, in order: %v", len(got), slices.IsSorted(got))
	}
	if delayed < 300 {
		t.Errorf("only %d of 1000 were late", delayed)
	}
}

// Bad links that last for less than the patience with them cost the ring no node if others are
// asked for a second opinion, and some nodes if not. In a calm network asking costs nothing.
func TestSecondOpinion(t *testing.T) {
	bad := calm()
	bad.Cut, bad.CutFor = 0.02, 10*bad.Period
	spec := small(calm())
	spec.Scenarios = []Scenario{calm(), bad}
	spec.Systems, spec.Timeouts, spec.Opinions = []System{Ring}, []float64{5}, []int{0, 3}
	rows, err := spec.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	still, asking, without, with := &rows[0], &rows[1], &rows[2], &rows[3]
	if still.Mistakes.Events+asking.Mistakes.Events > 0 || still.Messages != asking.Messages {
		t.Errorf("in a calm network: %g and %g messages, %d and %d mistakes", still.Messages, asking.Messages, still.Mistakes.Events, asking.Mistakes.Events)
	}
	if asking.First.Mean > still.First.Mean+0.05 {
		t.Errorf("a death is detected after %.3f η, without opinions after %.3f η", asking.First.Mean, still.First.Mean)
	}
	t.Logf("mistakes: %d without second opinions, %d with", without.Mistakes.Events, with.Mistakes.Events)
	if without.Mistakes.Events < 10 || with.Mistakes.Events > without.Mistakes.Events/10 {
		t.Errorf("%d mistakes without second opinions, %d with", without.Mistakes.Events, with.Mistakes.Events)
	}
}

func TestFastest(t *testing.T) {
	row := func(system System, all, high float64, undetected int) Row {
		return Row{
			Subject: Subject{System: system}, All: Sample{Count: 1, Mean: all},
			Mistakes: Rate{High: high}, Undetected: undetected,
		}
	}
	rows := []Row{
		row(Ring, 2, 0.1, 0), row(Ring, 5, 0.001, 0), row(Ring, 4, 0.01, 0), row(Ring, 3, 0.01, 1),
		row(Swim, 9, 0.1, 0), row(SwimRoundRobin, 8, 0, 0),
	}
	got := Fastest(rows, 0.01)
	if len(got) != 2 || got[0].All.Mean != 4 || got[1].Subject.System != SwimRoundRobin {
		t.Errorf("%+v", got)
	}
}

func TestValidate(t *testing.T) {
	for name, spoil := range map[string]func(*Spec){
		"nodes":         func(s *Spec) { s.Scenarios[0].Nodes = 2 },
		"tau":           func(s *Spec) { s.Scenarios[0].Tau = 0 },
		"period":        func(s *Spec) { s.Scenarios[0].Period = 2 * millisecond },
		"loss":          func(s *Spec) { s.Scenarios[0].Loss = 1 },
		"retransmit":    func(s *Spec) { s.Scenarios[0].Retransmit = 0 },
		"stall":         func(s *Spec) { s.Scenarios[0].Stall = -1 },
		"stall-every":   func(s *Spec) { s.Scenarios[0].Stall, s.Scenarios[0].StallEvery = 1, 0 },
		"cut":           func(s *Spec) { s.Scenarios[0].Cut = math.NaN() },
		"cut-for":       func(s *Spec) { s.Scenarios[0].CutFor = -1 },
		"opinions":      func(s *Spec) { s.Opinions = []int{256} },
		"deaths":        func(s *Spec) { s.Scenarios[0].Deaths = 31 },
		"timeouts":      func(s *Spec) { s.Timeouts = []float64{1} },
		"suspicions":    func(s *Spec) { s.Suspicions = []float64{-1} },
		"mediators":     func(s *Spec) { s.Mediators = []int{-1} },
		"detections":    func(s *Spec) { s.Detections = 0 },
		"watches":       func(s *Spec) { s.Watches = 0 },
		"watch-periods": func(s *Spec) { s.WatchPeriods = 0 },
	} {
		s := small(calm())
		spoil(&s)
		var wrong *field.Error
		if _, err := s.Run(context.Background()); !errors.As(err, &wrong) || wrong.Field != name {
			t.Errorf("wrong %s: %v", name, err)
		}
	}
	for _, s := range []System{Ring, RingStream, Swim, SwimRoundRobin} {
		if got, err := ParseSystem(s.String()); got != s || err != nil {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if _, err := ParseSystem("gossip"); err == nil {
		t.Error("an unknown system passes")
	}
}
