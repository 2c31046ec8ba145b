package detection

import (
	"fmt"
	"math"
	"slices"

	"banyan/internal/study/report"
)

// enoughRuns is how many runs of a setting its claims need.
const enoughRuns = 6

// strikeClaims sets what section 5.5 of the paper says beside what was measured.
func strikeClaims(all []*Summary) []report.Claim {
	var claims []report.Claim
	add := func(c report.Claim, enough bool) {
		if !enough {
			c.Verdict = report.Open
			c.Explanation = fmt.Sprintf("Fewer than %d runs of a setting. ", enoughRuns) + c.Explanation
		}
		claims = append(claims, c)
	}
	const left, centre = "section 5.5, figure 10 left", "section 5.5, figure 10 centre"
	var silent, killed []*Summary
	exceeded, runs, worst := 0, 0, 0.0
	for _, s := range all {
		if !s.System.isBanyan() || s.Fault == None || len(s.last) == 0 {
			continue
		}
		if s.Fault == Kill {
			killed = append(killed, s)
		} else {
			silent = append(silent, s)
		}
		for _, last := range s.last {
			share := last / ms(s.bound())
			runs++
			worst = max(worst, share)
			if !(share <= 1) {
				exceeded++
			}
		}
	}
	enough := func(list []*Summary) bool {
		return !slices.ContainsFunc(list, func(s *Summary) bool { return s.Runs < enoughRuns })
	}
	apart := slices.DeleteFunc(slices.Clone(silent), func(s *Summary) bool {
		return s.Apart > 0 || s.where() == Neighbours && s.victims() > 1 || s.where() == WholeHost && s.HostSize == s.N
	})
	if len(apart) > 0 {
		low, high := math.Inf(1), 0.0
		for _, s := range apart {
			share := s.Last.Value / ms(s.Timeout)
			low, high = min(low, share), max(high, share)
		}
		add(report.Claim{
			Where: left, What: "victims that aren't neighbours and fall silent at once are known to all after about δ",
			Paper: "close to δ; δ − η/2 in random phases", Ours: fmt.Sprintf("%.3g δ to %.3g δ (medians of %d settings)", low, high, len(apart)),
			Verdict:     agrees(low > 0.7 && high < 1.3),
			Explanation: "Of a few members some random victims are neighbours, which takes 3δ and more. And the machine has to wake all members up.",
		}, enough(apart))
	}
	for _, s := range silent {
		if s.where() == Neighbours && s.victims() > 1 && s.Apart == 0 {
			f := float64(s.victims())
			share := s.Last.Value / ms(s.Timeout)
			add(report.Claim{
				Where: left, What: fmt.Sprintf("%d neighbours that fall silent at once, %d members", s.victims(), s.N),
				Paper: fmt.Sprintf("f(f+1)δ = %g δ at most", f*(f+1)), Ours: fmt.Sprintf("%.3g δ; (2f − 1)δ = %g δ is what the ring takes", share, 2*f-1),
				Verdict: agrees(share <= f*(f+1)), Explanation: "The bound supposes the worst moments.",
			}, enough([]*Summary{s}))
		}
	}
	if runs > 0 {
		add(report.Claim{
			Where: left, What: "theorem 1 bounds the time until all know of all", Paper: "always",
			Ours:    fmt.Sprintf("%d of %d runs longer; at most %.3g %% of f(f+1)δ", exceeded, runs, 100*worst),
			Verdict: agrees(exceeded == 0), Explanation: "The time of messages isn't in f(f+1)δ. A run in which not all learnt counts as longer.",
		}, true)
	}
	claims = append(claims, concurrentClaims(centre, killed, enough)...)
	return claims
}

// concurrentClaims compare broadcasts that run at the same time, from evidence, with one.
func concurrentClaims(where string, killed []*Summary, enough func([]*Summary) bool) []report.Claim {
	var claims []report.Claim
	for _, s := range killed {
		if s.victims() == 1 || s.Apart > 0 {
			continue
		}
		i := slices.IndexFunc(killed, func(o *Summary) bool {
			return o.victims() == 1 && o.N == s.N && o.System == s.System && o.Timeout == s.Timeout
		})
		if i < 0 {
			continue
		}
		times := s.Spread.Value / killed[i].Spread.Value
		c := report.Claim{
			Where: where, What: fmt.Sprintf("%d broadcasts at a time, %d members (%s)", s.victims(), s.N, s.System), Ours: fmt.Sprintf("%.3g times as long as one", times),
			Explanation: "All members share the cores of one machine: they are the contended port. With a launcher the launcher's line tells of deaths, not a broadcast.",
		}
		switch {
		case s.victims() <= 2:
			c.Paper, c.Verdict = "hardly longer than one", agrees(times < 1.5)
		default:
			c.Paper, c.Verdict = "significantly longer than one", agrees(times > 1.1)
		}
		if !enough([]*Summary{s, killed[i]}) {
			c.Verdict = report.Open
		}
		claims = append(claims, c)
	}
	return claims
}

func agrees(yes bool) report.Verdict {
	if yes {
		return report.Agrees
	}
	return report.Differs
}
