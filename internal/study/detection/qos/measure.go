package qos

import (
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/study/parallel"
)

// Subject is a detector with its time-outs.
type Subject struct {
	System System
	// Timeout is the swept parameter: δ of the ring in η, or the time that suspects have to
	// refute, in SWIM's periods.
	Timeout float64
	// SwimPeriod is SWIM's period, by [Scenario.SwimPeriod].
	SwimPeriod proto.Time
	Mediators  int // nodes that are asked for indirect probes: by SWIM, or by the ring for a second opinion
}

// start prepares a run.
func (s *Subject) start(scene *Scenario, seed uint64) (run, error) {
	if s.System.isRing() {
		return newRing(scene, s.System, times(s.Timeout, scene.Period), s.Mediators, seed)
	}
	return newSwim(scene, s.System, s.SwimPeriod, times(s.Timeout, s.SwimPeriod), s.Mediators, seed)
}

func times(factor float64, span proto.Time) proto.Time {
	return proto.Time(factor*float64(span) + 0.5)
}

// settle is how long runs go on before they count, in periods: by then all processes have
// started, and have heard of their neighbours.
const settle = 4

// accuracy is the result of a run without deaths.
type accuracy struct {
	mistakes  []Mistake
	exposure  proto.Time
	sent      int
	nodeTime  proto.Time // of live nodes, in which these were sent
	suspected int        // SWIM's suspicions of live members
}

// watch runs a detector without deaths for a time and looks for mistakes. Once
// half of the processes are lost to them it ends early: what is left is another system.
func (s *Subject) watch(scene *Scenario, span proto.Time, seed uint64) (accuracy, error) {
	r, err := s.start(scene, seed)
	if err != nil {
		return accuracy{}, err
	}
	r.Run(settle * scene.Period)
	sent := r.sent()
	h := r.history()
	for end := r.Now() + span; r.Now() < end && 2*h.Live() > scene.Nodes; {
		r.Run(min(end, r.Now()+scene.Period))
	}
	h.Close(r.Now())
	a := accuracy{
		mistakes: h.Mistakes,
		exposure: h.Exposure,
		sent:     r.sent() - sent,
		nodeTime: h.Exposure - settle*scene.Period*proto.Time(scene.Nodes),
	}
	if m, ok := r.(*members); ok {
		a.suspected = m.suspicions
	}
	return a, nil
}

// detect lets neighbours die at a random time and waits until all know, or for a
// time at most. No First or All is Never, but where that has passed.
func (s *Subject) detect(scene *Scenario, patience proto.Time, seed uint64) ([]Detection, error) {
	r, err := s.start(scene, seed)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(parallel.Seed(seed, 4), 0))
	longest := max(scene.Period, s.SwimPeriod)
	at := settle*longest + proto.Time(rng.Int64N(int64(longest)))
	r.Run(at - 1)
	first := rng.IntN(scene.Nodes)
	for i := range scene.Deaths {
		r.Crash(int32((first+i)%scene.Nodes), at)
	}
	r.Run(at)
	h := r.history()
	if !h.Detected() {
		r.haltWhenDetected()
		r.Run(at + patience)
	}
	return h.Detections, nil
}

// pilotPeriods is how long a pilot run is.
const pilotPeriods = 1000

// SwimPeriod finds the period with which SWIM sends as many messages for each node and
// time as the ring would with its η, by two pilot runs: without loss that is 2η, for a
// ping and its acknowledgement.
func (s *Scenario) SwimPeriod(system System, mediators int, seed uint64) (proto.Time, error) {
	period := 2 * s.Period
	for range 2 {
		pilot := Subject{System: system, Timeout: 1e6, SwimPeriod: period, Mediators: mediators} // no process is declared dead
		a, err := pilot.watch(s, pilotPeriods*s.Period, parallel.Seed(seed, 5))
		if err != nil {
			return 0, err
		}
		perPeriod := float64(a.sent) / float64(a.nodeTime) * float64(period)
		period = proto.Time(perPeriod*float64(s.Period) + 0.5)
	}
	return period, nil
}
