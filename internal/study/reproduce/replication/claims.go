package replication

import (
	"fmt"
	"math"
	"strings"

	"banyan/internal/study/ratio"
	"banyan/internal/study/report"
)

// applicationClaims are those of section 4.4.
func (e *experiment) applicationClaims(apps []*item) []report.Claim {
	var measured []*item
	for _, x := range apps {
		if x.has(Beside) && x.has(Parallel) {
			measured = append(measured, x)
		}
	}
	if len(measured) == 0 {
		return []report.Claim{{
			Where: "section 4.4, tables 1 and 2", What: "the overhead is less than 5 % in all cases", Paper: "0.2 to 4.92 %",
			Ours: "not measured", Verdict: report.Open, Explanation: "The measurements have no applications.",
		}}
	}
	var claims []report.Claim
	var all []ratio.Estimate
	replicated := 0
	for _, x := range measured {
		o := x.overhead(Parallel, elapsed)
		all = append(all, o)
		replicated += len(x.runs[Parallel]) + len(x.runs[Mirror])
		if p := printedRow(rowOf(x.name)); p != nil {
			claims = append(claims, rowClaim(p, x, o))
		}
	}
	claims = append(claims, fiveClaim(measured, all, elapsed, "the overhead is less than 5 % in all cases"))
	if all := estimates(measured, cpu); len(all) == len(measured) {
		claims = append(claims, fiveClaim(measured, all, cpu, "the same, by the time of all processors"))
	}
	claims = append(claims, anyClaims(measured)...)
	claims = append(claims, efficiencyClaim(measured), report.Claim{
		Where: "section 2.4 (a), (b)", What: "programs with replicas do what they do without", Paper: "so they must",
		Ours: fmt.Sprintf("the same output in %d of %d runs with replicas", replicated, replicated), Verdict: report.Agrees,
		Explanation: "Another output would have ended the measurement with an error.",
	})
	return claims
}

func estimates(apps []*item, value func(Measurement) float64) (all []ratio.Estimate) {
	for _, x := range apps {
		if o := x.overhead(Parallel, value); !math.IsNaN(o.Ratio) {
			all = append(all, o)
		}
	}
	return all
}

// rowClaim sets one application beside its row of the paper.
func rowClaim(p *printed, x *item, o ratio.Estimate) report.Claim {
	verdict, why := holds(1+p.computed(), o)
	if verdict == report.Differs {
		why = "Another machine, fewer ranks, and another ratio of computing to messages; what is compared in form is whether it is below 5 %."
	}
	what := fmt.Sprintf("overhead of %s", p.name)
	if own(x.name) {
		what += fmt.Sprintf(", for which %s stands", x.name)
	}
	return report.Claim{
		Where: fmt.Sprintf("table %d", p.table), What: what, Paper: fmt.Sprintf("%s %%", percent(1+p.computed())),
		Ours:       fmt.Sprintf("%s %%, %s, %d × %d processes, %d rounds", overheadText(o), x.name, x.ranks, x.replicas, len(x.rounds(Beside, Parallel))),
		Difference: fmt.Sprintf("%.1f points", 100*(o.Ratio-1-p.computed())), Verdict: verdict, Explanation: why,
	}
}

// fiveClaim is about all applications together.
func fiveClaim(apps []*item, all []ratio.Estimate, value func(Measurement) float64, what string) report.Claim {
	verdict, why := below(1+paperOverhead, all...)
	if verdict == report.Differs {
		why = "The whole interval of one is above."
	}
	var list []string
	for _, x := range apps {
		list = append(list, fmt.Sprintf("%s %s %%", x.name, overheadText(x.overhead(Parallel, value))))
	}
	return report.Claim{
		Where: "section 4.4, tables 1 and 2", What: what, Paper: "0.2 to 4.92 %", Ours: strings.Join(list, "; "), Verdict: verdict, Explanation: why,
	}
}

// anyClaims compare programs that receive from any source with themselves receiving by name: the
// overheads' ratio, round by round.
func anyClaims(apps []*item) (claims []report.Claim) {
	for _, x := range apps {
		for _, y := range apps {
			if y.name != x.name+", any source" || x.ranks != y.ranks || x.replicas != y.replicas {
				continue
			}
			var all []float64
			for _, round := range x.rounds(Beside, Parallel) {
				if _, ok := y.runs[Beside][round]; !ok {
					continue
				}
				if m, ok := y.runs[Parallel][round]; ok {
					all = append(all, m.Seconds/y.runs[Beside][round].Seconds*x.runs[Beside][round].Seconds/x.runs[Parallel][round].Seconds)
				}
			}
			o := ratio.Of(all)
			verdict, why := below(1+paperOverhead, o)
			if verdict == report.Differs {
				why = "The same program receives by name and from any source, in the same rounds."
			}
			claims = append(claims, report.Claim{
				Where: "section 4.4, table 2", What: fmt.Sprintf("receives from any source don't cost replicas more: %s, less than 5 %% more than by name", x.name),
				Paper: "no degradation", Ours: overheadText(o) + " %", Verdict: verdict, Explanation: why,
			})
		}
	}
	return claims
}

// efficiencyClaim is that of section 5: what r times the processes are worth.
func efficiencyClaim(apps []*item) report.Claim {
	least, most, r := math.Inf(1), math.Inf(-1), apps[0].replicas
	for _, x := range apps {
		e := 1 / (float64(x.replicas) * x.overhead(Parallel, elapsed).Ratio)
		least, most = min(least, e), max(most, e)
	}
	verdict, why := below(1/0.9, estimates(apps, elapsed)...)
	if verdict == report.Differs {
		why = "Below nine tenths of that: by the overheads above."
	}
	return report.Claim{
		Where: "section 5", What: fmt.Sprintf("with %d replicas the efficiency is close to %.0f %%", r, 100/float64(r)), Paper: "close to 50 % with 2",
		Ours: fmt.Sprintf("%.1f to %.1f %%", 100*least, 100*most), Verdict: verdict, Explanation: why,
	}
}

// predictionClaims are about the paper's 256 ranks.
func (e *experiment) predictionClaims() []report.Claim {
	const what = "with 256 ranks the overhead is less than 5 %"
	var list []string
	verdict := report.Agrees
	for i := range paper {
		if p := e.prediction(paper[i].name); p != nil {
			list = append(list, fmt.Sprintf("%s %s %% (%d ranks; paper %s %%)", paper[i].name, percent(p.overhead()), p.Ranks, percent(1+paper[i].computed())))
			if p.overhead() >= 1+paperOverhead {
				verdict = report.Differs
			}
		}
	}
	if len(list) == 0 {
		return []report.Claim{{
			Where: "tables 1 and 2", What: what, Paper: "0.2 to 4.92 %", Ours: "not simulated", Verdict: report.Open,
			Explanation: "So many processes don't fit the machine; --predicted reads what a simulation says.",
		}}
	}
	return []report.Claim{{
		Where: "tables 1 and 2", What: what + ", simulated", Paper: "0.2 to 4.92 %", Ours: strings.Join(list, "; "), Verdict: verdict,
		Explanation: "Simulated from the costs of this machine's messages; the patterns' computation is a parameter.",
	}}
}
