package correctedtrees

import (
	"fmt"
	"math"
	"strings"

	"banyan/internal/study/report"
)

// optimisedClaim is section 3.3's claim that the optimised rule preserves non-faulty liveness, put
// beside section 4.3's number: how many broadcasts it leaves with an uncoloured process. The
// engine has run these, so they are fewer than those of uncolouredClaim.
func (e *experiment) optimisedClaim(s *studies, d int) report.Claim {
	n, k := 0, 0
	var parts []string
	for _, rate := range rates {
		left := 0
		for tree := range trees {
			unreached := s.opportunistic.at(d, tree, rate, e.Procs).unreached
			n += unreached.size()
			left += unreached.above(0)
		}
		k += left
		parts = append(parts, fmt.Sprint(left))
	}
	low, high := shareInterval(k, n)
	scaled := func(share float64) string { return report.Number(math.Round(share * paperTotal)) }
	c := report.Claim{
		Where: "section 4.3", What: fmt.Sprintf("the same of optimised correction, as printed, %d neighbours on each side", distances[d]), Paper: "about 2,600",
		Ours:        fmt.Sprintf("%s (%s to %s)", scaled(float64(k)/float64(n)), scaled(low), scaled(high)),
		Difference:  report.Difference(paperUncoloured, float64(k)/float64(n)*paperTotal),
		Verdict:     judge(low*paperTotal, high*paperTotal, paperUncoloured-100, paperUncoloured+100),
		Explanation: fmt.Sprintf("%d of %s broadcasts (%s %s). The rule doesn't preserve non-faulty liveness, as section 3.3 says it does: two processes may rely on each other (internal/proto/broadcast). Ordered correction, which does, leaves as many as plain opportunistic correction.", k, report.Number(float64(n)), strings.Join(parts, ", "), atRates),
	}
	if c.Verdict == report.Open {
		c.Explanation += tooFew
	}
	return c
}
