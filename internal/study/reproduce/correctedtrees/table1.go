package correctedtrees

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"banyan/internal/study/report"
)

// paperRuns is how many broadcasts of each tree and fault rate the paper simulated.
const paperRuns = 100_000

// quantity is one of the two halves of table 1.
type quantity struct {
	name  string
	paper map[string][]float64 // by the column, in the order of the rates
	of    func(s *faultStudy, rate float64) sample
}

// columns of each half, with the share that doesn't exceed the value.
var columns = []struct {
	name  string
	share float64
}{{"99 %", 0.99}, {"99.9 %", 0.999}, {"max", 1}}

// table1 is the table as printed.
var table1 = []quantity{
	{"g_max", map[string][]float64{"99 %": {1, 2, 5, 8, 13}, "99.9 %": {2, 3, 7, 11, 20}, "max": {3, 6, 19, 35, 55}},
		func(s *faultStudy, rate float64) sample { gaps, _ := s.all(rate); return gaps }},
	{"L_SCC", map[string][]float64{"99 %": {10, 12, 16, 19, 26}, "99.9 %": {12, 13, 19, 24, 34}, "max": {14, 16, 32, 56, 86}},
		func(s *faultStudy, rate float64) sample { _, times := s.all(rate); return times }},
}

// table1 sets every entry of the table beside ours.
func (e *experiment) table1(s *faultStudy) *report.Table {
	t := report.Table{
		Name: "table-1", Title: "Table 1",
		Caption: "the longest gap and the time of correction, of all tree types together. Intervals are of 95 %, between order statistics; there is none for a maximum, and no upper end where the broadcasts are too few.",
		Columns: []string{"F (%)", "dead", "broadcasts", "quantity", "percentile", "paper", "ours", "difference", "from", "to"},
	}
	for i, rate := range rates {
		for _, q := range table1 {
			x := q.of(s, rate)
			for _, c := range columns {
				paper, ours := q.paper[c.name][i], x.quantile(c.share)
				from, to := "", ""
				if c.share < 1 {
					low, high := x.quantileInterval(c.share)
					from = text(low)
					if !math.IsInf(high, 1) {
						to = text(high)
					}
				}
				t.Rows = append(t.Rows, []string{text(rate), strconv.Itoa(deadAt(rate, s.procs)), strconv.Itoa(x.size()), q.name, c.name,
					text(paper), text(ours), signed(ours - paper), from, to})
			}
		}
	}
	return &t
}

func signed(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%+g", v)
}

// table1Claims are its columns, one claim each.
func (e *experiment) table1Claims(s *faultStudy) []report.Claim {
	var claims []report.Claim
	for _, q := range table1 {
		for _, c := range columns {
			if c.share < 1 {
				claims = append(claims, percentileClaim(s, q, c.name, c.share))
			} else {
				claims = append(claims, maximumClaim(s, q, c.name))
			}
		}
	}
	return claims
}

const atRates = "at 0.01, 0.1, 1, 2, 4 %"

// tolerance is how far percentiles may be from the paper's, in steps or processes: they are whole
// numbers, so that a share that is nearly the percentile's decides between two.
const tolerance = 1

// percentileClaim is one column of percentiles. It differs if the whole interval of one
// is farther from the paper's than the tolerance.
func percentileClaim(s *faultStudy, q quantity, column string, share float64) report.Claim {
	claim := report.Claim{Where: "table 1", What: fmt.Sprintf("%s, %s, %s", q.name, column, atRates)}
	var paper, ours, difference, intervals []string
	far, certain := false, false
	for i, rate := range rates {
		x := q.of(s, rate)
		p, o := q.paper[column][i], x.quantile(share)
		low, high := x.quantileInterval(share)
		paper, ours, difference = append(paper, text(p)), append(ours, text(o)), append(difference, signed(o-p))
		intervals = append(intervals, interval(low, high))
		far = far || math.Abs(o-p) > tolerance
		certain = certain || low > p+tolerance || high < p-tolerance
	}
	claim.Paper, claim.Ours, claim.Difference = strings.Join(paper, ", "), strings.Join(ours, ", "), strings.Join(difference, ", ")
	claim.Explanation = fmt.Sprintf("95 %% intervals: %s. Within ±1 counts as equal: these are whole numbers.", strings.Join(intervals, ", "))
	switch {
	case certain:
		claim.Verdict = report.Differs
	case far:
		claim.Verdict = report.Open
		claim.Explanation += " Too few broadcasts to tell: the paper's is within an interval, or within 1 of it."
	}
	return claim
}

// maximumClaim is a column of maxima. Were ours of the paper's distribution, the chance that k
// of our n broadcasts exceed the greatest of its m would be at most (n/(n+m))^k.
func maximumClaim(s *faultStudy, q quantity, column string) report.Claim {
	claim := report.Claim{Where: "table 1", What: fmt.Sprintf("%s, %s, %s", q.name, column, atRates)}
	var paper, ours, difference, above []string
	unlikely, n := false, 0
	for i, rate := range rates {
		x := q.of(s, rate)
		p, o := q.paper[column][i], float64(x.max())
		paper, ours, difference = append(paper, text(p)), append(ours, text(o)), append(difference, signed(o-p))
		k := x.above(int(p))
		above = append(above, strconv.Itoa(k))
		n = x.size()
		m := paperRuns * len(trees)
		unlikely = unlikely || math.Pow(float64(n)/float64(n+m), float64(k)) < 0.001
	}
	claim.Paper, claim.Ours, claim.Difference = strings.Join(paper, ", "), strings.Join(ours, ", "), strings.Join(difference, ", ")
	claim.Explanation = fmt.Sprintf("A maximum is one broadcast's. Of ours, %s exceed the paper's.", strings.Join(above, ", "))
	switch {
	case unlikely:
		claim.Verdict = report.Differs
		claim.Explanation += " So many would exceed it with a chance below 0.1 %, were they of one distribution."
	case n < paperRuns*len(trees):
		claim.Verdict = report.Open
		claim.Explanation += fmt.Sprintf(" They are of %s broadcasts for each rate, the paper's of 400,000.", report.Number(float64(n)))
	default:
		claim.Explanation += " As many of one distribution could."
	}
	return claim
}
