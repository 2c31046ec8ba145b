package correctedtrees

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/study/driver/logp"
	"banyan/internal/study/report"
)

// verdict is Agrees or Differs.
func verdict(agrees bool) report.Verdict {
	if agrees {
		return report.Agrees
	}
	return report.Differs
}

// judge compares a confidence interval with the range that rounds to the paper's number. An
// interval that is more than twice as wide decides nothing.
func judge(low, high, paperLow, paperHigh float64) report.Verdict {
	switch {
	case high < paperLow || low >= paperHigh:
		return report.Differs
	case high-low > 2*(paperHigh-paperLow):
		return report.Open
	}
	return report.Agrees
}

// either is the verdict on a claim that can be read in several ways: it agrees if one reading
// does, and differs if all do.
func either(readings ...report.Verdict) report.Verdict {
	switch {
	case slices.Contains(readings, report.Agrees):
		return report.Agrees
	case slices.Contains(readings, report.Open):
		return report.Open
	}
	return report.Differs
}

// tooFew ends the explanation of an open verdict.
const tooFew = " Too few broadcasts to tell."

// largest is the number of processes that claims about one are about.
func (s *faultFreeStudy) largest() int { return s.sizes[len(s.sizes)-1] }

// each calls a function with every tree and size.
func (s *faultFreeStudy) each(visit func(tree, procs int, of func(correction) logp.Outcome)) {
	for _, procs := range s.sizes {
		for i := range trees {
			visit(i, procs, func(c correction) logp.Outcome { return s.outcomes[faultFreePoint{i, procs, c.name}] })
		}
	}
}

// byTree joins a text for each tree.
func byTree(say func(tree int) string) string {
	var parts []string
	for i, t := range trees {
		parts = append(parts, t.name+" "+say(i))
	}
	return strings.Join(parts, ", ")
}

// faultFreeClaims are those of section 4.1 and appendix B.
func (e *experiment) faultFreeClaims(s *faultFreeStudy) []report.Claim {
	time, perProc := sample{}, sample{} // of correction; messages
	wrongMessages, slower, coloringDiffers := 0, 0, 0
	s.each(func(_, procs int, of func(correction) logp.Outcome) {
		c, p, a := of(checked), of(plain), of(acknowledged)
		time[int(c.Quiescence-p.Coloring)]++
		corrections := c.Messages - (procs - 1)
		perProc[corrections/procs]++
		if corrections%procs != 0 || a.Messages != 2*(procs-1) {
			wrongMessages++
		}
		if c.Coloring != p.Coloring || a.Coloring != p.Coloring {
			coloringDiffers++
		}
		if of(optimised(2)).Messages > c.Messages {
			slower++
		}
	})
	cases := len(s.sizes) * len(trees)
	claims := []report.Claim{{
		Where: "section 4.1", What: "time of checked correction without faults, whatever the tree (lemma 2)", Paper: "8 steps",
		Ours: values(time) + " steps", Difference: report.Difference(8, time.mean()), Verdict: verdict(len(time) == 1 && time[8] > 0),
		Explanation: fmt.Sprintf("Exact, in all %d broadcasts. Lemma 2 holds with ⌈L/o⌉; the printed ⌊L/o⌋ is the same for L = 2, o = 1.", cases),
	}, {
		Where: "section 4.1", What: "corrections sent by each process without faults (corollary 1)", Paper: "5",
		Ours: values(perProc), Difference: report.Difference(5, perProc.mean()), Verdict: verdict(len(perProc) == 1 && perProc[5] > 0 && wrongMessages == 0),
		Explanation: fmt.Sprintf("Exact, in all %d broadcasts, for every process.", cases),
	}, {
		Where: "section 4.1, figure 6", What: "messages per process of an acknowledged tree", Paper: "2", Ours: "2 (P − 1) / P", Verdict: verdict(wrongMessages == 0),
		Explanation: "The root gets no message and acknowledges none.",
	}, {
		Where: "appendix B, figure 14", What: "coloring latency of corrected and acknowledged trees without faults", Paper: "the same",
		Ours: fmt.Sprintf("the same in %d of %d", cases-coloringDiffers, cases), Verdict: verdict(coloringDiffers == 0),
		Explanation: "With synchronised checked correction, which starts when dissemination is over.",
	}}
	claims = append(claims, e.latencyClaims(s)...)
	return append(claims, e.messageClaims(s, slower)...)
}

// latencyClaims are those about latency.
func (e *experiment) latencyClaims(s *faultFreeStudy) []report.Claim {
	procs := s.largest()
	of := func(tree int, c correction) logp.Outcome { return s.outcomes[faultFreePoint{tree, procs, c.name}] }
	between := 0
	for _, n := range s.sizes {
		latency := func(tree int) float64 {
			return float64(s.outcomes[faultFreePoint{tree, n, checked.name}].Quiescence)
		}
		if latency(1) <= latency(0) && latency(1) >= latency(2) {
			between++
		}
	}
	between4 := report.Claim{
		Where: "section 4.1, figure 7", What: "the latency of the 4-ary tree lies between the binomial and the Lamé tree's", Paper: "yes",
		Ours:        fmt.Sprintf("for %d of %d numbers of processes; with %s, %s", between, len(s.sizes), report.Number(float64(procs)), byTree(func(i int) string { return fmt.Sprint(of(i, checked).Quiescence) })),
		Verdict:     verdict(between == len(s.sizes)),
		Explanation: "Checked correction; its latency is the tree's and 8 steps. A 4-ary tree's last level is filled in the order of the numbering, so that its latency grows in jumps.",
	}
	saved := func(tree int, c correction) float64 {
		return 100 * (1 - float64(of(tree, c).Quiescence)/float64(of(tree, acknowledged).Quiescence))
	}
	most, gained, best := 0.0, 0.0, 0
	for i := range trees {
		most = max(most, saved(i, checked), saved(i, optimised(2)))
		if g := float64(of(i, plain).Coloring - of(i, optimised(4)).Coloring); g > gained {
			gained, best = g, i
		}
	}
	reduction := report.Claim{
		Where: "abstract", What: fmt.Sprintf("latency saved against existing schemes (acknowledged trees, P = %s)", report.Number(float64(procs))), Paper: "50 %",
		Ours: fmt.Sprintf("checked: %s; opportunistic: %s",
			byTree(func(i int) string { return fmt.Sprintf("%.0f %%", saved(i, checked)) }),
			byTree(func(i int) string { return fmt.Sprintf("%.0f %%", saved(i, optimised(2))) })),
		Difference: fmt.Sprintf("%+.0f points at best", most-50), Verdict: report.Open,
		Explanation: "The abstract speaks of simulations and measurements, and doesn't say which it compares. An acknowledged tree is quiet after twice the time of dissemination; correction adds 8 steps instead, so that the saving tends to 50 % as trees grow.",
	}
	speedup := report.Claim{
		Where: "section 4.1, figure 14", What: "the binomial tree gains most coloring latency by overlapped opportunistic correction", Paper: "yes",
		Ours:        byTree(func(i int) string { return fmt.Sprint(of(i, plain).Coloring, " → ", of(i, optimised(4)).Coloring) }),
		Verdict:     verdict(best == 0 && gained > 0),
		Explanation: fmt.Sprintf("Steps until all have the message, without correction and with 4 neighbours on each side, P = %s.", report.Number(float64(procs))),
	}
	g := s.gossip[procs]
	inCorrection := g.coloring.above(g.fastest + 2*overhead + latency - 1)
	gossip := report.Claim{
		Where: "appendix B", What: "Corrected Gossip usually colours the last process only during correction", Paper: "yes",
		Ours:        fmt.Sprintf("in %d of %d broadcasts", inCorrection, g.coloring.size()),
		Verdict:     verdict(2*inCorrection > g.coloring.size()),
		Explanation: fmt.Sprintf("P = %s, gossip for %d steps, the fastest with checked correction.", report.Number(float64(procs)), g.fastest),
	}
	return []report.Claim{between4, reduction, speedup, gossip}
}

// messageClaims are those about the number of messages.
func (e *experiment) messageClaims(s *faultFreeStudy, above2 int) []report.Claim {
	procs := s.largest()
	per := func(tree int, c correction) float64 {
		return float64(s.outcomes[faultFreePoint{tree, procs, c.name}].Messages) / float64(procs)
	}
	claims := []report.Claim{}
	for _, d := range distances {
		most, cases := 0, 0
		s.each(func(_, _ int, of func(correction) logp.Outcome) {
			cases++
			if of(optimised(d)).Messages <= of(checked).Messages {
				most++
			}
		})
		claims = append(claims, report.Claim{
			Where: "section 4.1, figure 6", What: fmt.Sprintf("optimised opportunistic correction sends at most as many messages as checked, with %d neighbours on each side", d), Paper: "yes",
			Ours:    fmt.Sprintf("in %d of %d broadcasts: %s", most, cases, byTree(func(i int) string { return fmt.Sprintf("%.2f", per(i, optimised(d))) })),
			Verdict: verdict(most == cases), Explanation: "The messages per process of each tree; checked correction: 6.",
		})
	}
	return append(claims, e.gossipMessageClaims(s)...)
}

// values returns the values of a sample, ascending.
func values(s sample) string {
	all, _ := s.sorted()
	var parts []string
	for _, v := range all {
		parts = append(parts, report.Number(v))
	}
	return strings.Join(parts, ", ")
}
