package failuredetector

import (
	"fmt"
	"math"
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/study/agreement"
	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/pieces"
	"banyan/internal/study/report"
	"banyan/internal/topology"
)

// serviceNotice is how long the service took that the paper's detector stands in for, in τ: 80 ms.
const serviceNotice = 80_000

// agreements are those of one size, the right part of figure 10. Times are in τ. The keys are the
// number of victims.
type agreements struct {
	alone    agreement.Outcome // nobody dies
	notice   map[int]int       // by the detector: a broadcast of figure 10's centre
	detector map[int]stabilisation.Spread
	service  map[int]stabilisation.Spread
}

// agreementOf is an agreement as banyan sim agreement has it by default. A step is τ.
func agreementOf(nodes int) agreement.Case {
	return agreement.Case{Procs: nodes, Latency: 2, Overhead: 1, Tree: "binomial", Numbering: topology.InOrder}
}

// agree has all members agree while some die. A victim's death is drawn from the time that the
// agreement takes without deaths.
func (s *severalStudy) agree(j int) (a agreements, err error) {
	share := s.Several[j]
	plain := agreementOf(share.Nodes)
	if a.alone, err = agreement.Simulate(&plain); err != nil {
		return a, err
	}
	a.notice, a.detector, a.service = map[int]int{}, map[int]stabilisation.Spread{}, map[int]stabilisation.Spread{}
	run := func(victims, notice int) (stabilisation.Spread, error) {
		step := fmt.Sprintf("figure 10, agreement of %d nodes, %d die, notice after %d", share.Nodes, victims, notice)
		times, err := pieces.Each(s.ctx, s.store, step, share.Runs, s.Workers, func(done int) { s.progress(step, done, share.Runs) }, func(_, i int) (float64, error) {
			c := plain
			c.Notice, c.Deaths = notice, drawDeaths(rand.New(rand.NewPCG(s.Seed, uint64(i))), share.Nodes, victims, a.alone.Latency)
			o, err := agreement.Simulate(&c)
			return float64(o.Latency), err
		})
		if err != nil {
			return stabilisation.Spread{}, err
		}
		return stabilisation.NewSpread(times), nil
	}
	for _, v := range victims {
		a.notice[v] = int(math.Ceil(inTau(s.broadcast[v][j].Each).Mean))
		if a.detector[v], err = run(v, a.notice[v]); err != nil {
			return a, err
		}
		if a.service[v], err = run(v, serviceNotice); err != nil {
			return a, err
		}
	}
	return a, nil
}

// drawDeaths draws so many victims, each with a time before the end.
func drawDeaths(r *rand.Rand, nodes, victims int, end proto.Time) []agreement.Death {
	var deaths []agreement.Death
	for _, p := range r.Perm(nodes)[:victims] {
		deaths = append(deaths, agreement.Death{Member: p, At: proto.Time(r.Int64N(int64(end)))})
	}
	return deaths
}

// right is the right part of the figure: agreements while members die.
func (s *severalStudy) right() *report.Figure {
	last := len(s.Several) - 1
	a := &s.agreed[last]
	f := report.Figure{
		Name: "figure-10-right", Title: "Figure 10, right: an agreement during which members die",
		Caption: fmt.Sprintf("%s members, by the machines, in LogP time with L = 2τ and o = τ = 1 µs. Medians, least and greatest.", report.Number(float64(s.Several[last].Nodes))),
		X:       report.Axis{Label: "members that die during it"}, Y: report.Axis{Label: "until the last live member returns (µs)", Log: true},
	}
	for look, x := range []struct {
		name  string
		times map[int]stabilisation.Spread
	}{{"told by the detector's broadcast", a.detector}, {"told after 80 ms", a.service}} {
		series := report.Series{Name: x.name, Spread: report.Whiskers, Look: look + 1}
		alone := float64(a.alone.Latency)
		series.Points = append(series.Points, report.Point{X: 0, Y: alone, Low: alone, High: alone})
		for _, v := range victims {
			t := x.times[v]
			series.Points = append(series.Points, report.Point{X: float64(v), Y: t.Median, Low: t.Least, High: t.Greatest})
		}
		f.Series = append(f.Series, series)
	}
	return &f
}

func (s *severalStudy) agreementClaims() []report.Claim {
	const where = "section 5.5, figure 10 right (simulated)"
	last := len(s.Several) - 1
	a := &s.agreed[last]
	nodes := report.Number(float64(s.Several[last].Nodes))
	most, longest := victims[len(victims)-1], 0.0
	for _, v := range victims {
		longest = max(longest, a.detector[v].Greatest)
	}
	one, all := a.detector[victims[0]], a.detector[most]
	times := a.service[most].Mean / all.Mean
	return []report.Claim{
		{
			Where: where, What: "an agreement without failures", Paper: "80 µs, 6,000 cores",
			Ours:        fmt.Sprintf("%d µs, %s members, %d messages", a.alone.Latency, nodes, a.alone.Messages),
			Verdict:     verdict(a.alone.Latency > 40 && a.alone.Latency < 160),
			Explanation: "Up a binomial tree and down again, with L = 2 µs and o = 1 µs; the paper's machine had other costs. Between half and twice counts as the same.",
		},
		{
			Where: where, What: "it ends in less than 1.5 ms although members fail during it, if the detector tells of them",
			Paper: "below 1.5 ms", Ours: fmt.Sprintf("%.4g to %.4g µs for 1 to %d of %s (means), %.4g at most", one.Mean, all.Mean, most, nodes, longest),
			Verdict: verdict(longest < 1500), Explanation: "As in the paper the failures are seen at once by a process nearby; then it is the detector's broadcast that all wait for.",
		},
		{
			Where: where, What: "it takes fifty times as long if a service tells of them after 80 ms",
			Paper: "80 ms, 50 times", Ours: fmt.Sprintf("%.4g ms, %.3g times, %d of %s", a.service[most].Mean/1000, times, most, nodes),
			Verdict: verdict(times > 50), Explanation: "Members wait for a dead parent or child until they hear of its death.",
		},
		{
			Where: where, What: "its time grows linearly with the failures", Paper: "linearly",
			Ours: fmt.Sprintf("%+.3g µs from 1 failure to %d, of which all hear %+d µs later", all.Mean-one.Mean, most, a.notice[most]-a.notice[victims[0]]), Verdict: report.Open,
			Explanation: "The paper puts it down to its agreement's scans of the group for each failure. Here no time is counted for what a process does by itself, but the broadcasts of several failures delay each other.",
		},
	}
}
