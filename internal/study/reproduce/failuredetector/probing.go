package failuredetector

import (
	"context"
	"fmt"
	"math"

	"banyan/internal/study/detection/probing"
	"banyan/internal/study/pieces"
	"banyan/internal/study/report"
)

const (
	probedNodes = 100000 // of sections 3.4.2 and 4.3
	probedRisk  = 1e-9
)

// probingStudy is figures 6 and 7.
type probingStudy struct {
	*experiment
	rounds, most map[int]probing.Histogram
	missed       probing.Histogram
}

func (e *experiment) studyProbing() (part, error) {
	s := probingStudy{e, map[int]probing.Histogram{}, map[int]probing.Histogram{}, probing.Histogram{}}
	var err error
	for _, n := range e.Probed {
		if s.rounds[n], err = e.draw("figure 6", n, probing.RoundsUntilAll); err != nil {
			return part{}, err
		}
		if s.most[n], err = e.draw("figure 7", n, probing.MostProbes); err != nil {
			return part{}, err
		}
	}
	if s.missed, err = e.draw("unprobed nodes", probedNodes, probing.Missed); err != nil {
		return part{}, err
	}
	return part{
		claims:  append(s.arithmetic(), s.claims()...),
		section: report.Section{Title: "Randomised detectors", Figures: []*report.Figure{s.figure6(), s.figure7()}, Tables: []*report.Table{s.table()}},
	}, nil
}

// drawing is a kind of rounds that are drawn.
type drawing func(context.Context, probing.Spec) (probing.Histogram, error)

// drawBlock is how many runs are drawn together: one takes milliseconds.
const drawBlock = 50

// draw draws all runs of one kind.
func (e *experiment) draw(what string, nodes int, simulate drawing) (all probing.Histogram, err error) {
	step := fmt.Sprintf("%s: %d nodes", what, nodes)
	n := (e.ProbingRuns + drawBlock - 1) / drawBlock
	progress := func(done int) { e.progress(step, min(done*drawBlock, e.ProbingRuns), e.ProbingRuns) }
	blocks, err := pieces.Each(e.ctx, e.store, step, n, e.Workers, progress, func(_, b int) (map[int]int, error) {
		first := b * drawBlock
		h, err := simulate(e.ctx, probing.Spec{Nodes: nodes, First: first, Runs: min(drawBlock, e.ProbingRuns-first), Seed: e.Seed, Workers: 1})
		came := map[int]int{}
		for x, times := range h.Counts {
			if times > 0 {
				came[x] = times
			}
		}
		return came, err
	})
	for _, b := range blocks {
		for x, times := range b {
			all.Add(x, times)
		}
	}
	return all, err
}

// series are the mean and the greatest outcome by size.
func (s *probingStudy) series(of map[int]probing.Histogram, name string) []report.Series {
	mean := report.Series{Name: "mean " + name, Spread: report.Whiskers}
	greatest := report.Series{Name: fmt.Sprintf("most of %d runs", s.ProbingRuns), Style: report.Points}
	for _, n := range s.Probed {
		h := of[n]
		m, half := h.Mean()
		mean.Points = append(mean.Points, report.Point{X: float64(n), Y: m, Low: m - half, High: m + half})
		greatest.Points = append(greatest.Points, report.Point{X: float64(n), Y: float64(h.Quantile(1))})
	}
	return []report.Series{mean, greatest}
}

func (s *probingStudy) figure6() *report.Figure {
	f := report.Figure{
		Name: "figure-6", Title: "Figure 6: rounds until every node has been probed",
		Caption: "The line is theory, for nodes that are missed independently of each other.",
		X:       report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "rounds"}, Series: s.series(s.rounds, "rounds"),
	}
	theory := report.Series{Name: "mean, theory", Style: report.Line, Dashed: true}
	for _, n := range s.Probed {
		theory.Points = append(theory.Points, report.Point{X: float64(n), Y: probing.MeanRounds(n)})
	}
	f.Series = append(f.Series, theory)
	return &f
}

func (s *probingStudy) figure7() *report.Figure {
	f := report.Figure{
		Name: "figure-7", Title: "Figure 7: most probes on one node in a round, L(N)",
		Caption: "The lines are the theory's bounds, ln N/ln ln N and three times that.",
		X:       report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "probes"}, Series: s.series(s.most, "of the most"),
	}
	low, high := report.Series{Name: "ln N/ln ln N", Style: report.Line, Dashed: true, Look: 3}, report.Series{Name: "3 ln N/ln ln N", Style: report.Line, Dashed: true, Look: 4}
	for _, n := range s.Probed {
		l, h := probing.MostBounds(n)
		low.Points = append(low.Points, report.Point{X: float64(n), Y: l})
		high.Points = append(high.Points, report.Point{X: float64(n), Y: h})
	}
	f.Series = append(f.Series, low, high)
	return &f
}

// arithmetic are the claims of section 3.4.2 that need no draws.
func (s *probingStudy) arithmetic() []report.Claim {
	const where = "section 3.4.2"
	compare := func(what string, paper, ours, within float64, digits int, explanation string) report.Claim {
		text := func(v float64) string { return fmt.Sprintf("%.*f", digits, v) }
		return report.Claim{
			Where: where, What: what, Paper: text(paper), Ours: text(ours), Difference: report.Difference(paper, ours),
			Verdict: verdict(math.Abs(ours-paper) <= within), Explanation: explanation,
		}
	}
	p := probing.PrintedUnprobed(probedNodes)
	x := math.Log(probedRisk) / math.Log(p)
	low, high := probing.MostBounds(probedNodes)
	all := probing.RoundsForAll(probedNodes, probedRisk)
	missed, half := s.missed.Mean()
	return []report.Claim{
		compare("p(N), the probability that nobody probes a given node in a round, N = 100,000", 0.367881, p, 5e-7, 6,
			fmt.Sprintf("As printed. Nobody probes itself, so it should be ((N−2)/(N−1))^(N−1) = %.6f.", probing.Unprobed(probedNodes))),
		compare("1/e, its limit", 0.367894, 1/math.E, 5e-7, 6, "A slip of the pen: e⁻¹ = 0.367879."),
		{
			Where: where, What: "nodes that nobody probes in a round", Paper: "36,788",
			Ours: fmt.Sprintf("%.1f ± %.1f (drawn); %.1f (N p(N))", missed, half, probedNodes*p), Difference: report.Difference(36788, missed),
			Verdict: verdict(math.Abs(missed-36788) < max(3*half, 1)), Explanation: "Ours is for nodes that don't probe themselves.",
		},
		compare("rounds x with p(N)^x = 10⁻⁹", 20.7, x, 0.05, 1, "21 rounds when rounded up."),
		{
			Where: where, What: "rounds after which all nodes have been probed, with probability 1 − 10⁻⁹", Paper: "21", Ours: fmt.Sprint(math.Ceil(all)),
			Difference: report.Difference(21, math.Ceil(all)), Verdict: verdict(math.Ceil(all) == 21),
			Explanation: "21 rounds are for one given node. That none of 100,000 is missed takes N p^x = 10⁻⁹.",
		},
		compare("least pings on the most probed node, ln N/ln ln N", 4.7, low, 0.05, 1, ""),
		compare("time-out, in those of one message each way: 5 pings at a time, 21 rounds", 100, math.Ceil(low)*math.Ceil(x), 5, 0, "Two orders of magnitude, says the paper."),
		compare("greatest, three times that", 14.1, high, 0.35, 1, "The paper multiplies the rounded 4.7; unrounded it is "+fmt.Sprintf("%.2f.", high)),
	}
}

// claims are those of section 4.3.
func (s *probingStudy) claims() []report.Claim {
	const where = "section 4.3"
	var claims []report.Claim
	add := func(what string, paper, value float64, ours string, within float64, explanation string) {
		claims = append(claims, report.Claim{
			Where: where, What: what, Paper: report.Number(paper), Ours: ours, Difference: report.Difference(paper, value),
			Verdict: verdict(math.Abs(value-paper) <= within), Explanation: explanation,
		})
	}
	// The greatest of few runs says nothing about that of many.
	addGreatest := func(what string, paper, value float64, ours string, within float64, explanation string) {
		add(what, paper, value, ours, within, explanation)
		if s.ProbingRuns < 1000 {
			claims[len(claims)-1].Verdict = report.Open
		}
	}
	mean := func(h probing.Histogram) (float64, string) {
		m, half := h.Mean()
		return m, fmt.Sprintf("%.3f ± %.2g", m, half)
	}
	for _, c := range []struct {
		nodes          int
		rounds, probes float64
	}{{20000, 11, 8}, {probedNodes, 13, 11}} {
		h, ok := s.rounds[c.nodes]
		if !ok {
			continue
		}
		m, text := mean(h)
		add(fmt.Sprintf("rounds until all are probed, on average, %s nodes (figure 6)", report.Number(float64(c.nodes))), c.rounds, m, text, 0.75,
			fmt.Sprintf("Theory: %.2f. The paper gives whole rounds.", probing.MeanRounds(c.nodes)))
		h = s.most[c.nodes]
		_, text = mean(h)
		greatest := h.Quantile(1)
		addGreatest(fmt.Sprintf("pings on one node in a round, up to, %s nodes (figure 7)", report.Number(float64(c.nodes))), c.probes, float64(greatest),
			fmt.Sprintf("%d in %d rounds; %s on average, %d in 99 %% of the rounds", greatest, h.Runs(), text, h.Quantile(0.99)), 1.5,
			"The caption says average, the text \"up to\", \"with a high probability\". The greatest grows with the number of rounds drawn.")
	}
	if h, ok := s.rounds[probedNodes]; ok {
		worst := h.Quantile(1)
		addGreatest("rounds until all are probed, at worst in 10,000 runs", 22, float64(worst), fmt.Sprintf("%d in %d runs, 100,000 nodes", worst, h.Runs()), 2,
			"The worst of so many runs is chance: each further round has 1/e of the probability.")
		m, _ := h.Mean()
		each := float64(2 * (probedNodes - 1))
		add("messages until a failure is detected by random probing, 100,000 nodes", 2599974, m*each,
			fmt.Sprintf("%s for 13 rounds; %s for our mean", report.Number(13*each), report.Number(math.Round(m*each))), 0.75*each,
			"13 rounds, in each of which every live node sends a ping and gets an answer: 13 · 2 · 99,999. Pings to the dead node are counted as answered.")
	}
	detection := lowNoise.detection()
	claims = append(claims, report.Claim{
		Where: where, What: "the ring detects a failure in one message time τ", Paper: "τ", Ours: fmt.Sprintf("δ − η/2 on average (%v s in LOWNOISE), δ + τ at most", detection),
		Verdict: report.Differs, Explanation: "It can't be faster than silence is noticed: δ > η + τ after the last heartbeat. What the paper compares is the time-outs: one message against 16 to 22.",
	})
	return claims
}

func (s *probingStudy) table() *report.Table {
	t := report.Table{
		Name: "probing", Title: "Figures 6 and 7 in numbers", Caption: fmt.Sprintf("%d runs each", s.ProbingRuns),
		Columns: []string{"nodes", "rounds, mean", "theory", "99 %", "greatest", "most probes, mean", "99 %", "greatest", "ln N/ln ln N", "three times"},
	}
	for _, n := range s.Probed {
		r, m := s.rounds[n], s.most[n]
		rounds, _ := r.Mean()
		most, _ := m.Mean()
		low, high := probing.MostBounds(n)
		t.Rows = append(t.Rows, []string{
			report.Number(float64(n)), fmt.Sprintf("%.3f", rounds), fmt.Sprintf("%.3f", probing.MeanRounds(n)), fmt.Sprint(r.Quantile(0.99)), fmt.Sprint(r.Quantile(1)),
			fmt.Sprintf("%.3f", most), fmt.Sprint(m.Quantile(0.99)), fmt.Sprint(m.Quantile(1)), number(low), number(high),
		})
	}
	return &t
}
