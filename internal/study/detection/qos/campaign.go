package qos

import (
	"context"
	"math"

	"banyan/internal/proto"
	"banyan/internal/study/field"
	"banyan/internal/study/parallel"
)

// Spec is a comparison: every system with each of its time-outs in every scenario.
type Spec struct {
	Scenarios []Scenario
	Systems   []System
	// Timeouts are the ring's δ in η, Suspicions SWIM's time-outs for suspects in its
	// periods.
	Timeouts, Suspicions []float64
	Mediators            []int // members that SWIM asks for indirect pings, one or several numbers
	// Opinions are the nodes that an observer on the ring asks for a second opinion before silence
	// counts, one or several numbers; nil: none is asked.
	Opinions []int
	// Detections is the number of runs with a death, Watches of those without,
	// each of which lasts so many η.
	Detections, Watches, WatchPeriods int
	Seed                              uint64
	Workers                           int
	Done                              func(runs int) // called now and then; may be nil
}

// Validate returns a *field.Error for what is out of range.
func (s *Spec) Validate() error {
	for i := range s.Scenarios {
		if err := s.Scenarios[i].Validate(); err != nil {
			return err
		}
	}
	for _, t := range s.Timeouts {
		if !(t > 1 && t <= 1e6) {
			return field.Errorf("timeouts", "%g: want more than 1 period", t)
		}
	}
	for _, t := range s.Suspicions {
		if !(t >= 0 && t <= 1e6) {
			return field.Errorf("suspicions", "%g: want 0 periods or more", t)
		}
	}
	for _, k := range s.Mediators {
		if k < 0 {
			return field.Errorf("mediators", "%d: want 0 or more", k)
		}
	}
	for _, k := range s.Opinions {
		if k < 0 || k > math.MaxUint8 {
			return field.Errorf("opinions", "%d: want 0 to %d", k, math.MaxUint8)
		}
	}
	for _, c := range []struct {
		name       string
		value, low int
	}{
		{"detections", s.Detections, 1},
		{"watches", s.Watches, 1}, {"watch-periods", s.WatchPeriods, 1},
	} {
		if c.value < c.low {
			return field.Errorf(c.name, "%d: want at least %d", c.value, c.low)
		}
	}
	return nil
}

// Row is the quality of service of one detector in one scenario. Times are in η.
type Row struct {
	Scenario Scenario
	Subject  Subject

	// T_D: until the first live process knows of the death, or of the last known of
	// several, and until all do.
	First, All Sample
	Undetected int // runs with a death not known to all within the patience
	Wrongly    int // runs with a death that some process had declared before; not in the samples

	Mistakes Rate   // for each node and η
	Duration Sample // T_M, of those that ended
	Fatal    int    // mistakes by which a live process was lost
	// Accuracy is P_A: the share of time that a live node isn't declared
	// dead.
	Accuracy float64
	// Suspected is SWIM's rate of suspicions of live nodes by any other, for each
	// node and η, most of which are refuted.
	Suspected float64
	Messages  float64 // sent for each node and η, in runs without deaths
}

// Recurrence is E(T_MR) in η: the mean time between mistakes about one node.
func (r *Row) Recurrence() float64 { return 1 / r.Mistakes.Rate }

// point is one row's work.
type point struct {
	scene      int
	subject    Subject
	detections [][]Detection
	watches    []accuracy
}

// Runs is how many runs a comparison takes.
func (s *Spec) Runs() int { return len(s.points()) * (s.Detections + s.Watches) }

func (s *Spec) points() []point {
	var list []point
	for scene := range s.Scenarios {
		for _, system := range s.Systems {
			timeouts, mediators := s.Suspicions, s.Mediators
			if system.isRing() {
				timeouts, mediators = s.Timeouts, s.Opinions
				if mediators == nil {
					mediators = []int{0}
				}
			}
			for _, k := range mediators {
				for _, t := range timeouts {
					list = append(list, point{scene: scene, subject: Subject{System: system, Timeout: t, Mediators: k}})
				}
			}
		}
	}
	return list
}

// Run makes the comparison. The rows depend on the seed, not on the number of workers.
func (s *Spec) Run(ctx context.Context) ([]Row, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	points := s.points()
	if err := s.calibrate(ctx, points); err != nil {
		return nil, err
	}
	for i := range points {
		points[i].detections = make([][]Detection, s.Detections)
		points[i].watches = make([]accuracy, s.Watches)
	}
	each := s.Detections + s.Watches
	err := parallel.Each(ctx, len(points)*each, s.Workers, s.Done, func(_, i int) (err error) {
		p, k := &points[i/each], i%each
		scene := &s.Scenarios[p.scene]
		// All systems get the same seeds: the same stalls, the same victims.
		seed := parallel.Seed(s.Seed, p.scene, k)
		if k < s.Watches {
			p.watches[k], err = p.subject.watch(scene, proto.Time(s.WatchPeriods)*scene.Period, seed)
		} else {
			p.detections[k-s.Watches], err = p.subject.detect(scene, p.patience(scene), seed)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(points))
	for i := range points {
		rows[i] = points[i].row(&s.Scenarios[points[i].scene])
	}
	return rows, nil
}

// calibrate finds SWIM's periods.
func (s *Spec) calibrate(ctx context.Context, points []point) error {
	type key struct {
		scene, mediators int
		system           System
	}
	of := func(p *point) key { return key{p.scene, p.subject.Mediators, p.subject.System} }
	index := map[key]int{}
	var keys []key
	for i := range points {
		k := of(&points[i])
		if _, ok := index[k]; !ok && !k.system.isRing() {
			index[k] = len(keys)
			keys = append(keys, k)
		}
	}
	periods := make([]proto.Time, len(keys))
	err := parallel.Each(ctx, len(keys), s.Workers, nil, func(_, i int) (err error) {
		periods[i], err = s.Scenarios[keys[i].scene].SwimPeriod(keys[i].system, keys[i].mediators, s.Seed)
		return err
	})
	for i := range points {
		if j, ok := index[of(&points[i])]; ok {
			points[i].subject.SwimPeriod = periods[j]
		}
	}
	return err
}

// patience is how long a detection may take: many times as long as it should with these deaths
// and this network.
func (p *point) patience(scene *Scenario) proto.Time {
	period := max(scene.Period, p.subject.SwimPeriod)
	one := times(p.subject.Timeout, period) + 50*period + 20*scene.Stall
	return proto.Time(4*scene.Deaths) * one
}

// row sums up.
func (p *point) row(scene *Scenario) Row {
	r := Row{Scenario: *scene, Subject: p.subject}
	unit := float64(scene.Period)
	var first, all []float64
	for _, run := range p.detections {
		wrongly, one, everyone := false, proto.Time(0), proto.Time(0)
		for _, d := range run {
			wrongly = wrongly || d.Wrongly
			one, everyone = max(one, d.First-d.At), max(everyone, d.All-d.At)
			if d.All == proto.Never {
				everyone = proto.Never
			}
		}
		switch {
		case wrongly:
			r.Wrongly++
		case everyone == proto.Never:
			r.Undetected++
		default:
			first = append(first, float64(one)/unit)
			all = append(all, float64(everyone)/unit)
		}
	}
	r.First, r.All = summarise(first), summarise(all)

	var durations []float64
	events, exposures := make([]int, len(p.watches)), make([]float64, len(p.watches))
	exposure, wrong, sent, nodeTime, suspected := 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range p.watches {
		w := &p.watches[i]
		events[i], exposures[i] = len(w.mistakes), float64(w.exposure)/unit
		for _, m := range w.mistakes {
			wrong += float64(m.Until-m.From) / unit
			if m.Ended {
				durations = append(durations, float64(m.Until-m.From)/unit)
			}
			if m.Fatal {
				r.Fatal++
			}
		}
		exposure += exposures[i]
		sent += float64(w.sent)
		nodeTime += float64(w.nodeTime) / unit
		suspected += float64(w.suspected)
	}
	r.Mistakes, r.Duration = rate(events, exposures), summarise(durations)
	r.Accuracy, r.Messages, r.Suspected = 1-wrong/exposure, sent/nodeTime, suspected/exposure
	return r
}
