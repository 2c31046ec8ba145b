package replication

import (
	"fmt"
	"math"
	"slices"

	"banyan/internal/study/ratio"
	"banyan/internal/study/report"
)

// item is what was run in several settings.
type item struct {
	part            Part
	name            string
	bytes           int
	ranks, replicas int
	runs            map[Setting]map[int]Measurement // by round
}

// items are those of a part, in the order of their first runs.
func (e *experiment) items(part Part) (all []*item) {
	for _, m := range e.Measured {
		if m.Part != part {
			continue
		}
		i := slices.IndexFunc(all, func(x *item) bool {
			return x.name == m.Name && x.bytes == m.Bytes && x.ranks == m.Ranks && x.replicas == m.Replicas
		})
		if i < 0 {
			i = len(all)
			all = append(all, &item{m.Part, m.Name, m.Bytes, m.Ranks, m.Replicas, map[Setting]map[int]Measurement{}})
		}
		if all[i].runs[m.Setting] == nil {
			all[i].runs[m.Setting] = map[int]Measurement{}
		}
		all[i].runs[m.Setting][m.Round] = m
	}
	return all
}

// has tells whether a setting was run.
func (x *item) has(s Setting) bool { return len(x.runs[s]) > 0 }

func elapsed(m Measurement) float64 { return m.Seconds }
func cpu(m Measurement) float64     { return m.CPU }

// rounds are those in which all of some settings were run, in their order.
func (x *item) rounds(of ...Setting) (all []int) {
	for round := range x.runs[of[0]] {
		if !slices.ContainsFunc(of, func(s Setting) bool { _, ok := x.runs[s][round]; return !ok }) {
			all = append(all, round)
		}
	}
	slices.Sort(all)
	return all
}

// ratios are those of one setting's values to another's in the same round.
func (x *item) ratios(s, to Setting, value func(Measurement) float64) (all []float64) {
	for _, round := range x.rounds(s, to) {
		if a, b := value(x.runs[s][round]), value(x.runs[to][round]); a > 0 && b > 0 {
			all = append(all, a/b)
		}
	}
	return all
}

// overhead is the estimated ratio of a setting to jobs without replicas side by side.
func (x *item) overhead(s Setting, value func(Measurement) float64) ratio.Estimate {
	return ratio.Of(x.ratios(s, Beside, value))
}

// seconds are the times of a setting, sorted.
func (x *item) seconds(s Setting) []float64 {
	var all []float64
	for _, m := range x.runs[s] {
		all = append(all, m.Seconds)
	}
	slices.Sort(all)
	return all
}

// quantile is that of sorted values; NaN of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 == len(sorted) {
		return sorted[below]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

func (x *item) median(s Setting) float64 { return quantile(x.seconds(s), 0.5) }

// percent is a ratio as an overhead.
func percent(r float64) string {
	p := 100 * (r - 1)
	sign := "+"
	if p < 0 {
		sign, p = "−", -p
	}
	return fmt.Sprintf("%s%.1f", sign, p)
}

// overheadText is an overhead with its interval.
func overheadText(e ratio.Estimate) string {
	switch {
	case math.IsNaN(e.Ratio):
		return "—"
	case math.IsNaN(e.From):
		return percent(e.Ratio)
	}
	return fmt.Sprintf("%s (%s to %s)", percent(e.Ratio), percent(e.From), percent(e.To))
}

// widest is how wide an interval may be that agrees with a single number.
const widest = 0.25

// Explanations of what is open.
const (
	wide    = "The interval contains it, but is wider than 25 points: more rounds would tell (--full)."
	tooFew  = "Fewer than six rounds give no interval: nothing is said."
	reaches = "The interval reaches across it: more rounds would tell (--full)."
)

// below judges whether ratios are below a limit: each interval must be, or one must not be.
func below(limit float64, all ...ratio.Estimate) (report.Verdict, string) {
	verdict, why := report.Agrees, ""
	for _, e := range all {
		switch {
		case math.IsNaN(e.From):
			verdict, why = report.Open, tooFew
		case e.From > limit:
			return report.Differs, ""
		case e.To >= limit && verdict == report.Agrees:
			verdict, why = report.Open, reaches
		}
	}
	if len(all) == 0 {
		return report.Open, "Nothing was measured."
	}
	return verdict, why
}

// above is below with the ratios' inverses.
func above(limit float64, all ...ratio.Estimate) (report.Verdict, string) {
	var inverse []ratio.Estimate
	for _, e := range all {
		inverse = append(inverse, ratio.Estimate{Ratio: 1 / e.Ratio, From: 1 / e.To, To: 1 / e.From})
	}
	return below(1/limit, inverse...)
}

// holds judges whether an estimate may be a certain ratio.
func holds(want float64, e ratio.Estimate) (report.Verdict, string) {
	switch {
	case math.IsNaN(e.From):
		return report.Open, tooFew
	case e.From <= want && want <= e.To && e.To-e.From > widest:
		return report.Open, wide
	case e.From <= want && want <= e.To:
		return report.Agrees, ""
	}
	return report.Differs, ""
}
