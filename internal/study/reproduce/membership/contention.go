package membership

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/report"
)

// structure names the groups of figure 7.
func structure(children int) string {
	if children == 1 {
		return "pairs"
	}
	return fmt.Sprintf("%d children", children)
}

// Figure7 draws the paper's figure 7: half a round trip over the number of nodes that talk at once,
// in pairs and in groups of a parent with its children.
func Figure7(c *viewtime.Contended) *report.Figure {
	f := &report.Figure{
		Name: "figure-7", Title: "Figure 7: latency under contention",
		Caption: "Half a round trip, measured over loopback TCP between processes of one machine: medians of the runs.",
		X:       report.Axis{Label: "nodes that talk at once"}, Y: report.Axis{Label: "half a round trip (µs)"},
	}
	for i, children := range c.Children() {
		s := report.Series{Name: structure(children), Style: report.Line, Look: i%report.Looks + 1}
		for _, p := range c.Measured(children) {
			s.Points = append(s.Points, report.Point{X: float64(p.Nodes), Y: float64(p.Time) * 1e6})
		}
		f.Series = append(f.Series, s)
	}
	return f
}

// studyContention is figure 7.
func (e *experiment) studyContention() (part, error) {
	const where = "section 7.2, figure 7"
	c := e.Contended
	if c == nil {
		return part{claims: []report.Claim{{
			Where: where, What: "latency grows with the nodes that talk, and with the children of a parent", Paper: "linearly, from twelve nodes on for pairs",
			Ours: "not measured", Verdict: report.Open, Explanation: "banyan bench contention measures it, for --contention.",
		}}}, nil
	}
	q := part{section: report.Section{Title: "Contention", Figures: []*report.Figure{Figure7(c)}}}
	if pairs := c.Measured(1); len(pairs) >= 4 {
		q.claims = append(q.claims, pairsClaim(where, pairs))
	}
	if len(c.Children()) > 1 {
		q.claims = append(q.claims, orderClaim(where, c))
	}
	for _, children := range c.Children() {
		if curve := c.Measured(children); len(curve) >= 6 {
			q.claims = append(q.claims, lineClaim(where, children, curve))
		}
	}
	return q, nil
}

// pairsClaim is about how many pairs a machine carries as if each were alone.
func pairsClaim(where string, pairs []viewtime.Latency) report.Claim {
	alone, free := pairs[0], pairs[0].Nodes
	for _, p := range pairs {
		if p.Time > 1.25*alone.Time {
			break
		}
		free = p.Nodes
	}
	most := pairs[len(pairs)-1]
	return report.Claim{
		Where: where, What: "pairs are handled well up to twelve nodes; then the latency rises with the nodes",
		Paper: "12 nodes", Ours: fmt.Sprintf("within a quarter of %.0f µs, that of %d nodes, up to %d nodes; %.0f µs with %d", us(alone.Time), alone.Nodes, free, us(most.Time), most.Nodes),
		Verdict:     verdict(free >= 12 && most.Time > 1.25*alone.Time),
		Explanation: "The paper's twelve are its switch's. Here nodes contend for the processors of one machine, of which it has few.",
	}
}

// orderClaim is about the structures: more children, more latency, for as many nodes.
func orderClaim(where string, c *viewtime.Contended) report.Claim {
	children := c.Children()
	from, to := 0, math.MaxInt // all structures were measured there
	for _, x := range children {
		curve := c.Measured(x)
		from, to = max(from, curve[0].Nodes), min(to, curve[len(curve)-1].Nodes)
	}
	inOrder, sizes := 0, 0
	for n := from; n <= to; n++ {
		sizes++
		rises := true
		for i := 1; i < len(children); i++ {
			rises = rises && c.Latency(n, children[i]) > c.Latency(n, children[i-1])
		}
		if rises {
			inOrder++
		}
	}
	claim := report.Claim{
		Where: where, What: "for as many nodes the latency rises from pairs to two children and to four",
		Paper: "in this order", Verdict: report.Open, Ours: "no number of nodes was measured in all structures",
		Explanation: "On one machine nodes wait for its processors, and a message takes the less of their time the more children a parent has (column work_us of banyan bench contention): " +
			"it is woken once for several answers. Sizes between those measured are taken from the lines of the figure.",
	}
	if sizes > 0 {
		claim.Ours = fmt.Sprintf("in this order at %d of %d sizes; with %d nodes", inOrder, sizes, to)
		for _, x := range children {
			claim.Ours += fmt.Sprintf(", %s %.0f µs", structure(x), us(c.Latency(to, x)))
		}
		claim.Verdict = verdict(inOrder*10 >= sizes*9)
	}
	return claim
}

// lineClaim extrapolates a curve from its lower half, and compares with the upper one.
func lineClaim(where string, children int, curve []viewtime.Latency) report.Claim {
	half := len(curve) / 2
	low, err := viewtime.NewContended(curve[:half])
	claim := report.Claim{
		Where: where, What: fmt.Sprintf("contention latencies can be extrapolated, being near-linear, %s", structure(children)),
		Paper: "near-linear", Explanation: "From the last of the smaller sizes on, with the slope of the upper half of them.",
	}
	if err != nil { // they were good in the whole curve
		claim.Ours, claim.Verdict = err.Error(), report.Differs
		return claim
	}
	sum := 0.0
	for _, p := range curve[half:] {
		d := float64(low.Latency(p.Nodes, children)/p.Time) - 1
		sum += d * d
	}
	off := math.Sqrt(sum / float64(len(curve)-half))
	claim.Ours = fmt.Sprintf("from %d to %d nodes it is %.0f %% off at %d to %d (root mean square)", curve[0].Nodes, curve[half-1].Nodes, 100*off, curve[half].Nodes, curve[len(curve)-1].Nodes)
	claim.Verdict = verdict(off < 0.25)
	return claim
}

func us(s risk.Seconds) float64 { return float64(s) * 1e6 }

// overestimateClaim is about which side the contention model errs on, and by what.
func (e *experiment) overestimateClaim(where string, arity int, measured sizes) report.Claim {
	above := measured.above(contentionOf)
	c := report.Claim{
		Where: where, What: fmt.Sprintf("the contention model tends to overestimate, %d children", arity),
		Paper: map[int]string{2: "not said", 4: "tends to"}[arity], Ours: fmt.Sprintf("above the median at %d of %d sizes, by %.0f %% in the mean", above, len(measured), 100*measured.bias(contentionOf)),
		Verdict: verdict(2*above > len(measured)), Explanation: "Figure 7 of this machine (banyan bench contention, --contention) would tell causes apart.",
	}
	if arity == 2 {
		c.Verdict = report.Open
	}
	if model, ok := e.contentionModel(arity); ok {
		of := func(name string, model func(*size) float64) string {
			return fmt.Sprintf("%s it is %+.0f %% off in the mean, %.0f %% root mean square", name, 100*measured.bias(model), 100*measured.off(model))
		}
		byLevel := func(s *size) float64 { return microseconds(model.ByLevel(s.live, arity)) }
		c.Explanation = "Causes were tested. All nodes talk at once when the contention is measured, but only those of a level and their parents while a view spreads: " + of("with the contention of these alone", byLevel) + "."
		if two := measured[0]; two.live == 2 {
			more := (two.stabilise.median - two.model) / 2
			handled := func(s *size) float64 { return s.model + 2*more*float64(viewtime.Levels(s.live, arity)-1) }
			c.Explanation += fmt.Sprintf(" A member does more with a message than a node of figure 7, which sends it back: two members that agree take %.0f µs a message more than the model says; ", more) +
				of("with that in each message", handled) + "."
		}
	}
	if big := measured[len(measured)-1]; big.busy > 0 {
		c.Explanation += fmt.Sprintf(" The members use %.0f %% of all processors' time until all have the view, at %d nodes: where that is most of it, the time is the work of all nodes, whatever their level.", 100*big.busy, big.live)
	}
	return c
}

// coincidenceClaim is about whether the model errs most where runs are far apart.
func coincidenceClaim(where string, measured sizes) report.Claim {
	var above, wide []float64
	for i := range measured {
		if s := &measured[i]; s.stabilise.count > 1 {
			above, wide = append(above, s.model-s.stabilise.median), append(wide, s.stabilise.error99)
		}
	}
	c := report.Claim{
		Where: where, What: "larger overestimations tend to coincide with larger confidence intervals, 4 children",
		Paper: "tend to", Ours: "unknown", Verdict: report.Open, Explanation: "Kendall's rank correlation over the sizes; 0 is none, 1 the same order.",
	}
	if len(above) >= 5 {
		tau := stat.Kendall(above, wide, nil)
		c.Ours, c.Verdict = fmt.Sprintf("rank correlation %.2f over %d sizes", tau, len(above)), verdict(tau > 0.2)
	}
	return c
}

// heightClaim is about the sizes just before the tree gets another level.
func heightClaim(where string, measured sizes) report.Claim {
	var full, others sizes
	for _, s := range measured {
		if s.live == 5 || s.live == 21 {
			full = append(full, s)
		} else {
			others = append(others, s)
		}
	}
	c := report.Claim{
		Where: where, What: "the contention model resembles the measurement just before the tree gets another level, 4 children",
		Paper: "at 5 and 21 nodes", Ours: "these sizes weren't measured", Verdict: report.Open, Explanation: "Between them the model steps and the measurement doesn't.",
	}
	if len(full) == 2 && len(others) > 0 {
		a, b := full.off(contentionOf), others.off(contentionOf)
		c.Ours, c.Verdict = fmt.Sprintf("%.0f %% off at 5 and 21 nodes, %.0f %% at the others", 100*a, 100*b), verdict(a < 0.25 && a <= b)
	}
	return c
}

// extrapolation makes the contention model of the smaller half of figure 7 alone, and compares it
// with the views of the larger groups.
func (e *experiment) extrapolation(arity int, measured sizes) (report.Claim, bool) {
	model, ok := e.contentionModel(arity)
	if !ok {
		return report.Claim{}, false
	}
	curve := model.Contended.Measured(arity)
	half := len(curve) / 2
	if half < 2 {
		return report.Claim{}, false
	}
	var large sizes
	for _, s := range measured {
		if s.live > curve[half-1].Nodes {
			large = append(large, s)
		}
	}
	low, err := viewtime.NewContended(curve[:half])
	if err != nil || len(large) == 0 {
		return report.Claim{}, false
	}
	model.Contended = low
	off := large.off(func(s *size) float64 { return microseconds(model.Stabilise(s.live, arity)) })
	return report.Claim{
		Where: "section 7.2, end", What: fmt.Sprintf("the refined model qualifies for extrapolation, %d children", arity),
		Paper:       "should",
		Ours:        fmt.Sprintf("with figure 7 up to %d nodes only, it is %.0f %% off at %d to %d", curve[half-1].Nodes, 100*off, large[0].live, large[len(large)-1].live),
		Verdict:     verdict(off < 0.25),
		Explanation: "Contention goes on in a line beyond the nodes that it was measured with.",
	}, true
}
