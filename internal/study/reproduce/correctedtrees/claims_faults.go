package correctedtrees

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"banyan/internal/study/report"
)

// lowest and highest are the rates between which section 4.3 compares.
func lowest() float64  { return rates[0] }
func highest() float64 { return rates[len(rates)-1] }

// percent is a share of a whole in percent.
func percent(k, n int) float64 { return 100 * float64(k) / float64(n) }

// growth is how much the mean grows from one sample to another, in percent, with half of the 95 %
// confidence interval (normal approximation, the errors of both added in quadrature).
func growth(from, to sample) (grown, half float64) {
	ratio := to.mean() / from.mean()
	relative := math.Hypot(from.meanInterval()/from.mean(), to.meanInterval()/to.mean())
	return 100 * (ratio - 1), 100 * ratio * relative
}

// deviationRatio is how many times as large the standard deviation is, with its 95 % confidence
// interval: the logarithm of a deviation is nearly normal with variance (κ−1)/4n, κ the kurtosis.
func deviationRatio(from, to sample) (ratio, low, high float64) {
	variance := func(s sample) float64 {
		values, weights := s.sorted()
		return (stat.ExKurtosis(values, weights) + 2) / (4 * float64(s.size()))
	}
	ratio = to.deviation() / from.deviation()
	half := z * math.Sqrt(variance(from)+variance(to))
	return ratio, ratio * math.Exp(-half), ratio * math.Exp(half)
}

// aloneText names the broadcasts that lemma 3 isn't about, if there are any.
func (s *faultStudy) aloneText() string {
	if s.alone == 0 {
		return ""
	}
	return fmt.Sprintf("In %d more all children of the root were dead, so that it corrected alone, and was through after P corrections. ", s.alone)
}

// faultClaims are section 4.3's about latency and messages, and section 4.2's lemma 3.
func (e *experiment) faultClaims(s *studies) []report.Claim {
	f := &s.faults
	n := len(f.runs)
	runs := report.Number(float64(n))
	claims := []report.Claim{{
		Where: "lemma 3", What: "the time of checked correction is within the bounds of the longest gap", Paper: "always",
		Ours: fmt.Sprintf("in %s of %s broadcasts", report.Number(float64(n-f.outside-f.alone)), report.Number(float64(n-f.alone))), Verdict: verdict(f.outside == 0),
		Explanation: strings.TrimSpace("With ⌈L/o⌉ for ⌊L/o⌋, which is the same here. " + f.aloneText() + f.example),
	}, {
		Where: "section 3.1", What: "checked correction reaches every live process", Paper: "always",
		Ours: fmt.Sprintf("in %s of %s broadcasts", report.Number(float64(n-f.unreached)), runs), Verdict: verdict(f.unreached == 0),
		Explanation: "All processes are dead from the start that are.",
	}}
	claims = append(append(claims, e.growthClaims(s)...), e.gossipGrowthClaim(&s.gossip))
	claims = append(claims, e.deviationClaims(f)...)
	return append(claims, e.messageDropClaim(s), e.highRateClaim(&s.gossip))
}

// growthClaims are figure 8's of the trees, with each correction.
func (e *experiment) growthClaims(s *studies) []report.Claim {
	claims := []report.Claim{growthClaim("checked correction", func(tree int, rate float64) sample { return s.faults.at(tree, rate).quiescence },
		"Growth in steps is nearly the same for all trees, since only correction grows; in percent it is more for a tree that takes less time.")}
	for d, distance := range distances {
		claims = append(claims, growthClaim(optimised(distance).name, func(tree int, rate float64) sample { return s.opportunistic.at(d, tree, rate, e.Procs).quiescence },
			"Overlapped: a process whose parent is dead is reached by a correction, and only then sends to its children, so that dissemination grows with the faults, and most where subtrees are deep."))
	}
	return claims
}

// growthClaim is the growth of the latency of all trees, of which there is a sample at each rate.
func growthClaim(correction string, at func(tree int, rate float64) sample, why string) report.Claim {
	all, sure := true, true
	var steps []string
	ours := byTree(func(i int) string {
		from, to := at(i, lowest()), at(i, highest())
		grown, half := growth(from, to)
		all = all && grown >= 11.5 && grown < 14.5
		sure = sure && grown+half >= 11.5 && grown-half < 14.5
		steps = append(steps, fmt.Sprintf("%.2f to %.2f", from.mean(), to.mean()))
		return fmt.Sprintf("%.1f ± %.1f %%", grown, half)
	})
	c := report.Claim{
		Where: "section 4.3, figure 8", What: "growth of the average latency from 0.01 % to 4 % dead, " + correction, Paper: "12–14 %", Ours: ours, Verdict: report.Differs,
		Explanation: "Quiescence latency, interval of 95 %. " + why + " In steps: " + strings.Join(steps, ", ") + ".",
	}
	switch {
	case all:
		c.Verdict = report.Agrees
	case sure:
		c.Verdict = report.Open
		c.Explanation += tooFew
	}
	return c
}

func (e *experiment) gossipGrowthClaim(s *gossipStudy) report.Claim {
	fixed, half := growth(s.at(lowest(), e.Procs).quiescence, s.at(highest(), e.Procs).quiescence)
	adapted, half2 := growth(s.adapted[lowest()].quiescence, s.adapted[highest()].quiescence)
	c := report.Claim{
		Where: "section 4.3, figure 8", What: "the same of Corrected Gossip", Paper: "4 %",
		Ours:        fmt.Sprintf("%.1f ± %.1f %% with one gossip time (%d steps), %.1f ± %.1f %% with the fastest for each rate", fixed, half, s.at(lowest(), e.Procs).time, adapted, half2),
		Difference:  fmt.Sprintf("%+.1f and %+.1f points", fixed-4, adapted-4),
		Verdict:     either(judge(fixed-half, fixed+half, 3.5, 4.5), judge(adapted-half2, adapted+half2, 3.5, 4.5)),
		Explanation: "The paper doesn't say whether the gossip time was adapted to the rate. Latencies are whole steps, and a step of gossip time is 2 % of the latency. A gossip that ends a step or two before the fastest leaves more to correction, and grows more with the faults.",
	}
	if c.Verdict == report.Open {
		c.Explanation += tooFew
	}
	return c
}

// deviationClaims compare with both roundings of the lowest rate.
func (e *experiment) deviationClaims(f *faultStudy) []report.Claim {
	var claims []report.Claim
	for _, c := range []struct {
		tree  int
		paper float64
	}{{0, 17}, {len(trees) - 1, 10}} {
		claim := report.Claim{
			Where: "section 4.3", What: "standard deviation of the latency at 4 %, as a multiple of that at 0.01 %, " + trees[c.tree].name + " tree",
			Paper: fmt.Sprintf("%g", c.paper), Verdict: report.Open,
		}
		to := f.at(c.tree, highest()).quiescence
		var ours, differences, deviations []string
		var verdicts []report.Verdict
		for _, from := range []struct {
			dead int
			x    sample
		}{{deadAt(lowest(), f.procs), f.at(c.tree, lowest()).quiescence}, {deadBelow(lowest(), f.procs), f.down[c.tree]}} {
			if from.x.deviation() == 0 {
				ours = append(ours, fmt.Sprintf("– with %d dead", from.dead))
				continue
			}
			ratio, low, high := deviationRatio(from.x, to)
			verdicts = append(verdicts, judge(low, high, c.paper-0.5, c.paper+0.5))
			ours = append(ours, fmt.Sprintf("%.1f (%.1f to %.1f) with %d dead", ratio, low, high, from.dead))
			differences = append(differences, report.Difference(c.paper, ratio))
			deviations = append(deviations, fmt.Sprintf("%.3f", from.x.deviation()))
		}
		claim.Ours, claim.Difference = strings.Join(ours, "; "), strings.Join(differences, "; ")
		claim.Explanation = fmt.Sprintf("Intervals of 95 %%. 0.01 %% of %s is %.2f processes, and how that is rounded decides: with so few dead the latency hardly varies (deviation %s steps; %.2f at 4 %%).",
			report.Number(float64(f.procs)), lowest()/100*float64(f.procs), strings.Join(deviations, " and "), to.deviation())
		if len(verdicts) == 0 {
			claim.Explanation = "At 0.01 % all broadcasts took the same time."
		} else {
			claim.Verdict = either(verdicts...)
		}
		if claim.Verdict == report.Open {
			claim.Explanation += tooFew
		}
		claims = append(claims, claim)
	}
	return claims
}

func (e *experiment) messageDropClaim(s *studies) report.Claim {
	drops := true
	ours := byTree(func(i int) string {
		from, to := s.faults.at(i, lowest()).messages.mean()/float64(e.Procs), s.faults.at(i, highest()).messages.mean()/float64(e.Procs)
		drops = drops && to < from
		return fmt.Sprintf("%.2f → %.2f", from, to)
	})
	from, to := s.gossip.at(lowest(), e.Procs).messages.mean()/float64(e.Procs), s.gossip.at(highest(), e.Procs).messages.mean()/float64(e.Procs)
	return report.Claim{
		Where: "section 4.3, figure 9", What: "messages per process drop from 0.01 % to 4 % dead, and trees send fewer than gossip", Paper: "yes",
		Ours:        fmt.Sprintf("%s, gossip %.2f → %.2f", ours, from, to),
		Verdict:     verdict(drops && to < from && s.faults.at(0, highest()).messages.mean()/float64(e.Procs) < to),
		Explanation: "Checked correction, messages of all by the number of all processes. The dead, and those whom dissemination misses, send no corrections.",
	}
}

func (e *experiment) highRateClaim(s *gossipStudy) report.Claim {
	g, t := s.adapted[highRate], s.highTree
	return report.Claim{
		Where: "section 4.3", What: "at 10 % dead, gossip with an adapted time may be faster than an optimal tree", Paper: "could be even less",
		Ours:        fmt.Sprintf("gossip %.1f ± %.1f steps (gossip time %d), optimal tree %.1f ± %.1f", g.quiescence.mean(), g.quiescence.meanInterval(), g.time, t.mean(), t.meanInterval()),
		Verdict:     verdict(g.quiescence.mean() < t.mean()),
		Explanation: "Mean quiescence latency with checked correction, intervals of 95 %.",
	}
}
