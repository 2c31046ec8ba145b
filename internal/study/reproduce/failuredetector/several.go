package failuredetector

import (
	"fmt"
	"math"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/report"
)

// victims are how many nodes fail in figure 10.
var victims = []int{1, 2, 4, 8}

// hit is a way in which several nodes fail.
type hit struct {
	name string
	set  func(s *stabilisation.Settings, failures int)
}

// hits are the ways of figure 10. The first is the paper's.
var hits = []hit{
	{"at once", func(s *stabilisation.Settings, f int) {}},
	{"at once, after a barrier", func(s *stabilisation.Settings, f int) { s.Together = true }},
	{"at once, neighbours", func(s *stabilisation.Settings, f int) { s.Neighbours = true }},
	{"one by one", oneByOne},
	{"one by one, neighbours", func(s *stabilisation.Settings, f int) {
		oneByOne(s, f)
		s.Neighbours = true
	}},
	{"a host, ring by rank", func(s *stabilisation.Settings, f int) { s.Law, s.HostSize = stabilisation.WholeHost, f }},
	{"a host, ring interleaved", func(s *stabilisation.Settings, f int) {
		s.Law, s.HostSize, s.Order = stabilisation.WholeHost, f, stabilisation.Interleaved
	}},
}

// oneByOne has failures strike at times drawn from (f − 1)δ: most strike while the one before is
// still unknown.
func oneByOne(s *stabilisation.Settings, f int) { s.Within = max(1, proto.Time(f-1)*s.Timeout) }

// Ways whose outcomes are claims.
const (
	hitAtOnce, hitTogether, hitNeighbours, hitHostByRank, hitHostInterleaved = 0, 1, 2, 5, 6
)

// severalStudy is figure 10, simulated by the machines. The key of its maps is the number of
// victims.
type severalStudy struct {
	*experiment
	stable    []map[int][]stabilisation.Summary // by hit; by share
	broadcast map[int][]stabilisation.Summary   // with triggers; by share
	agreed    []agreements                      // by share
}

func (e *experiment) studySeveral() (part, error) {
	s := severalStudy{experiment: e, stable: make([]map[int][]stabilisation.Summary, len(hits)), broadcast: map[int][]stabilisation.Summary{}}
	for i := range hits {
		s.stable[i] = map[int][]stabilisation.Summary{}
	}
	run := func(share SeveralShare, failures int, set func(*stabilisation.Settings, int)) (stabilisation.Summary, error) {
		settings := lowLatency.settings(share.Nodes)
		settings.Failures = failures
		set(&settings, failures)
		step := fmt.Sprintf("figure 10, %d victims", failures)
		o, err := e.campaign(step, settings, stabilisation.Machine, share.Runs)
		return settings.Summarise(o), err
	}
	for _, share := range e.Several {
		for _, f := range victims {
			for i, h := range hits {
				m, err := run(share, f, h.set)
				if err != nil {
					return part{}, err
				}
				s.stable[i][f] = append(s.stable[i][f], m)
			}
			m, err := run(share, f, func(s *stabilisation.Settings, _ int) { s.Trigger, s.Fixed = true, true })
			if err != nil {
				return part{}, err
			}
			s.broadcast[f] = append(s.broadcast[f], m)
		}
	}
	for j := range s.Several {
		a, err := s.agree(j)
		if err != nil {
			return part{}, err
		}
		s.agreed = append(s.agreed, a)
	}
	return part{
		claims: append(s.claims(), s.agreementClaims()...),
		section: report.Section{
			Title: "Figure 10, simulated",
			Text: []string{
				"The paper measured figure 10 on Titan. Here the machines play it under the one-port model, every heartbeat and every copy of a broadcast, in scenario LOWLAT. " +
					"What real processes do on a machine is measured by banyan bench detector --victims.",
				"At once: the victims are drawn, and strike together. After a barrier: all nodes began their heartbeats together, and the victims die right after one, as on Titan. " +
					"Neighbours: each further victim is the node before the last on the ring. One by one: at times drawn from (f − 1)δ, so that most strike while the one before is still unknown.",
				"Right: an agreement of all members (banyan sim agreement) during which some die. All live ones hear of a death after the mean time of the centre's broadcasts, or 80 ms after it, as from the service that the paper replaced.",
				"A time above theorem 1's bound would be a fault of the protocol. The theorem covers ⌊log2 n⌋ − 1 failures; the table leaves the bound out where more strike.",
			},
			Figures: []*report.Figure{s.left(), s.centre(), s.right()}, Tables: []*report.Table{s.table()},
		},
	}, nil
}

// left is the left part of the figure: the time to a stable configuration.
func (s *severalStudy) left() *report.Figure {
	f := report.Figure{
		Name: "figure-10-left", Title: "Figure 10, left: several victims at once",
		Caption: fmt.Sprintf("By the machines: δ = %v s, η = %v s, τ = 1 µs. Means with 95 %% confidence intervals, where theorem 1 covers the failures.",
			float64(lowLatency.timeout)/1e9, float64(lowLatency.period)/1e9),
		X: report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "until all nodes know of all (s)"},
	}
	for look, way := range []int{hitAtOnce, hitTogether} {
		for i, v := range victims {
			series := report.Series{
				Name: fmt.Sprintf("%d, %s", v, hits[way].name), Spread: report.Whiskers, Look: i + 1, Dashed: look > 0,
			}
			for j, share := range s.Several {
				if m := &s.stable[way][v][j]; s.covered(j, v) {
					series.Points = append(series.Points, point(share.Nodes, m.All))
				}
			}
			f.Series = append(f.Series, series)
		}
	}
	return &f
}

// centre is the middle part: broadcasts that run at the same time.
func (s *severalStudy) centre() *report.Figure {
	f := report.Figure{
		Name: "figure-10-centre", Title: "Figure 10, centre: broadcasts that run at the same time",
		Caption: "From a death, which its observer knows at once, until all live nodes know of it: mean of the victims, in units of τ. Every message takes τ. Where theorem 1 covers the failures.",
		X:       report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "time (τ)"},
	}
	for i, v := range victims {
		series := report.Series{Name: fmt.Sprintf("%d at a time", v), Spread: report.Whiskers, Look: i + 1}
		for j, share := range s.Several {
			if s.covered(j, v) {
				series.Points = append(series.Points, point(share.Nodes, inTau(s.broadcast[v][j].Each)))
			}
		}
		f.Series = append(f.Series, series)
	}
	bound := report.Series{Name: "8 log2 n: the bound of one", Style: report.Line, Dashed: true, Look: report.Looks}
	for _, share := range s.Several {
		bound.Points = append(bound.Points, report.Point{X: float64(share.Nodes), Y: 8 * math.Log2(float64(share.Nodes))})
	}
	f.Series = append(f.Series, bound)
	return &f
}

// covered says whether theorem 1 covers so many failures at a size.
func (s *severalStudy) covered(share, failures int) bool {
	settings := lowLatency.settings(s.Several[share].Nodes)
	return failures <= settings.MostFailures()
}

// join lists numbers.
func join(numbers []int) string {
	var all []string
	for _, n := range numbers {
		all = append(all, fmt.Sprint(n))
	}
	return strings.Join(all, ", ")
}

// inTau is a spread of seconds in units of τ.
func inTau(s stabilisation.Spread) stabilisation.Spread {
	const tau = 1e-6
	return stabilisation.Spread{Mean: s.Mean / tau, Error: s.Error / tau, Greatest: s.Greatest / tau, Least: s.Least / tau}
}

func (s *severalStudy) claims() []report.Claim {
	last := len(s.Several) - 1
	delta := float64(lowLatency.timeout) / 1e9
	exceeded, wrong, runs, share := 0, 0, 0, 0.0
	most := make([]string, len(victims)) // broadcasts of a run
	fewEnough := true
	for k, v := range victims {
		broadcasts := 0.0
		for i := range hits {
			for j, m := range s.stable[i][v] {
				if !s.covered(j, v) {
					continue
				}
				broadcasts = max(broadcasts, m.Broadcasts.Greatest)
				runs += m.Runs
				exceeded += m.Exceeded
				wrong += m.False
				share = max(share, m.OfBound)
			}
		}
		most[k] = fmt.Sprintf("%.0f of %d", broadcasts, v*(v+1)/2)
		fewEnough = fewEnough && broadcasts <= float64(v*(v+1)/2)
	}
	least, greatest := math.Inf(1), 0.0
	for _, v := range victims {
		m := s.stable[hitTogether][v][last]
		least, greatest = min(least, m.All.Least), max(greatest, m.All.Median)
	}
	one := &s.stable[hitAtOnce][1][last]
	times := func(v int) float64 { return s.broadcast[v][last].Each.Mean / s.broadcast[1][last].Each.Mean }
	copies := s.broadcast[1][last].News.Mean / float64(s.Several[last].Nodes)
	nodes := report.Number(float64(s.Several[last].Nodes))
	host := func(way int) float64 { return s.stable[way][8][last].All.Mean / delta }
	const left, centre = "section 5.5, figure 10 left (simulated)", "section 5.5, figure 10 centre (simulated)"
	return []report.Claim{
		{
			Where: left, What: "victims that strike at once are known after δ if all began their heartbeats together",
			Paper: "close to δ", Ours: fmt.Sprintf("%.6f to %.6f s for 1 to 8 of %s, δ = %v s (medians)", least, greatest, nodes, delta),
			Verdict: verdict(least > 0.99*delta && greatest < 1.01*delta), Explanation: "They die right after a heartbeat, the worst moment.",
		},
		{
			Where: left, What: "with random phases it is δ − η/2",
			Paper: fmt.Sprintf("%v s", lowLatency.detection()), Ours: measured(one.First, " s") + " for one victim of " + nodes,
			Difference:  report.Difference(lowLatency.detection(), one.First.Mean),
			Verdict:     verdict(math.Abs(one.First.Mean-lowLatency.detection()) < max(3*one.First.Error, 0.01*delta)),
			Explanation: "With several victims it is the mean of the last: between δ − η/2 and δ.",
		},
		{
			Where: left, What: "T(f) bounds the time to a stable configuration, also for neighbours, one by one, and whole hosts",
			Paper: "always", Ours: fmt.Sprintf("%d of %d runs longer, %d false suspicions; at most %.3g %% of the bound", exceeded, runs, wrong, 100*share),
			Verdict: verdict(exceeded+wrong == 0), Explanation: "Of runs with at most ⌊log2 n⌋ − 1 failures.",
		},
		{
			Where: "lemma 2, corollary 1 (simulated)", What: "f failures begin at most f(f+1)/2 broadcasts",
			Paper: "always", Ours: fmt.Sprintf("%s at most, for %s failures", strings.Join(most, ", "), join(victims)),
			Verdict: verdict(fewEnough), Explanation: "In the same runs.",
		},
		{
			Where: left, What: "neighbours that strike at once are found one after the other: (2f − 1)δ",
			Paper: "f(f+1)δ at most", Ours: fmt.Sprintf("%.4g δ for 8 of %s", s.stable[hitNeighbours][8][last].All.Mean/delta, nodes),
			Verdict:     verdict(math.Abs(s.stable[hitNeighbours][8][last].All.Mean/delta-15) < 0.5),
			Explanation: "δ for the first, and 2δ for each further one, which has to hear of its new observer first.",
		},
		{
			Where: left, What: "the death of a host of 8 nodes, beyond the paper", Paper: "nothing said",
			Ours:    fmt.Sprintf("%.3g δ on a ring by rank, %.3g δ on the interleaved ring of jobs, %s nodes", host(hitHostByRank), host(hitHostInterleaved), nodes),
			Verdict: report.Open, Explanation: "The paper's victims are drawn at random. On a ring by rank a host's nodes are neighbours.",
		},
		{
			Where: centre, What: "two broadcasts at a time take hardly longer than one",
			Paper: "not significantly", Ours: fmt.Sprintf("%.3g times as long, %s nodes", times(2), nodes), Verdict: verdict(times(2) < 1.25),
			Explanation: fmt.Sprintf("Counted: one broadcast brings each node %.3g copies, so %.3g τ of its receiving port, while all know after %.3g τ. A second one finds the ports busy.", copies, copies, s.broadcast[1][last].Each.Mean*1e6),
		},
		{
			Where: centre, What: "four take longer, and eight much longer", Paper: "significantly increased",
			Ours: fmt.Sprintf("%.3g and %.3g times as long, %s nodes", times(4), times(8), nodes), Verdict: verdict(times(4) > 1.1 && times(8) > times(4)*1.1),
			Explanation: "The ports are the contention, as the paper says.",
		},
		{
			Where: centre, What: "the proof takes broadcasts to run one after the other", Paper: "pessimistic",
			Ours:    fmt.Sprintf("eight at a time take %.3g times as long as one, not 8", times(8)),
			Verdict: verdict(times(8) < 8), Explanation: "Their copies fill each other's gaps.",
		},
	}
}

func (s *severalStudy) table() *report.Table {
	t := report.Table{
		Name: "several", Title: "Figure 10 in numbers", Caption: "until all know of all, in seconds; the machines, LOWLAT",
		Columns: []string{"nodes", "victims", "how", "runs", "mean", "longest", "theorem 1", "of the bound (%)", "broadcasts", "unstable"},
	}
	for j, share := range s.Several {
		for i, h := range hits {
			for _, v := range victims {
				m := &s.stable[i][v][j]
				settings := lowLatency.settings(share.Nodes)
				bound, of := "", ""
				if v <= settings.MostFailures() {
					bound, of = number(settings.Bound(v)/1e9), fmt.Sprintf("%.3g", 100*m.OfBound)
				}
				t.Rows = append(t.Rows, []string{
					report.Number(float64(share.Nodes)), fmt.Sprint(v), h.name, fmt.Sprint(m.Runs), measured(m.All, ""), number(m.All.Greatest),
					bound, of, fmt.Sprintf("%.3g", m.Broadcasts.Mean), fmt.Sprint(m.Unstable),
				})
			}
		}
		for _, v := range victims {
			m := &s.broadcast[v][j]
			t.Rows = append(t.Rows, []string{
				report.Number(float64(share.Nodes)), fmt.Sprint(v), "observers know at once", fmt.Sprint(m.Runs), measured(m.All, ""), number(m.All.Greatest),
				"", "", fmt.Sprintf("%.3g", m.Broadcasts.Mean), fmt.Sprint(m.Unstable),
			})
		}
	}
	return &t
}
