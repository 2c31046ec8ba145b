package membership

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/report"
)

// studySwitch is figures 6 and 8: TCP over Gigabit Ethernet, and over the loopback of this
// machine.
func (e *experiment) studySwitch() (part, error) {
	q := part{section: report.Section{Title: "TCP"}}
	most := e.Switch - 1 // of so many nodes one dies
	for _, figure := range []struct{ number, arity int }{{6, 2}, {8, 4}} {
		var simulated []point
		for live := 2; live <= most; live++ {
			p, err := e.simulate(&ethernet, live, figure.arity, false)
			if err != nil {
				return part{}, err
			}
			simulated = append(simulated, p)
		}
		measured := e.measured(figure.arity, cluster)
		where := fmt.Sprintf("section 7.2, figure %d", figure.number)
		q.claims = append(q.claims, e.switchClaims(where, figure.arity, simulated, measured)...)
		q.section.Figures = append(q.section.Figures, e.switchFigure(figure.number, figure.arity, simulated, measured))
		if large := e.measured(figure.arity, math.MaxInt); len(large) > len(measured) {
			q.section.Figures = append(q.section.Figures, e.largeFigure(figure.arity, large))
		}
	}
	q.claims = append(q.claims, stepClaim())
	return q, nil
}

func (e *experiment) switchFigure(number, arity int, simulated []point, measured sizes) *report.Figure {
	f := &report.Figure{
		Name: fmt.Sprintf("figure-%d", number), Title: fmt.Sprintf("Figure %d: stabilisation time over TCP, %d children", number, arity),
		Caption: "The paper's base model and the protocol in LogP time with the constants of its Gigabit Ethernet, L = 118 µs; and medians measured over loopback TCP on one machine, with quartiles, and the models for that machine.",
		X:       report.Axis{Label: "nodes that are left"}, Y: report.Axis{Label: "stabilisation time (µs)"},
	}
	base := report.Series{Name: "base model, L = 118 µs", Style: report.Line, Look: 1}
	for _, p := range simulated {
		base.Points = append(base.Points, report.Point{X: float64(p.live), Y: ethernet.base(p.live, arity)})
	}
	f.Series = append([]report.Series{base, points("protocol in LogP", 1, simulated)}, e.machineSeries(arity, measured)...)
	return f
}

// machineSeries are the measurements and the models of that machine, nil if there are none.
func (e *experiment) machineSeries(arity int, measured sizes) []report.Series {
	if len(measured) == 0 {
		return nil
	}
	series := []report.Series{{Name: "measured here", Style: report.Points, Spread: report.Whiskers, Look: 2}}
	base := report.Series{Name: "base model, here", Style: report.Line, Dashed: true, Look: 2}
	contention := report.Series{Name: "contention model, here", Style: report.Line, Look: 2}
	for _, s := range measured {
		x := float64(s.live)
		series[0].Points = append(series[0].Points, report.Point{X: x, Y: s.stabilise.median, Low: s.stabilise.low, High: s.stabilise.high})
		base.Points = append(base.Points, report.Point{X: x, Y: s.base})
		contention.Points = append(contention.Points, report.Point{X: x, Y: s.model})
	}
	return append(series, contention, base)
}

// largeFigure has the measurements of more nodes than the paper's cluster had.
func (e *experiment) largeFigure(arity int, measured sizes) *report.Figure {
	return &report.Figure{
		Name: fmt.Sprintf("measured-%d", arity), Title: fmt.Sprintf("More nodes than the paper's, %d children", arity),
		Caption: "Beyond the paper: all that was measured on one machine. " + e.MeasuredBy,
		X:       report.Axis{Label: "nodes that are left", Log: true}, Y: report.Axis{Label: "stabilisation time (µs)", Log: true},
		Series: e.machineSeries(arity, measured),
	}
}

func (e *experiment) switchClaims(where string, arity int, simulated []point, measured sizes) []report.Claim {
	big := last(simulated)
	claims := []report.Claim{{
		Where: where, What: fmt.Sprintf("single-digit milliseconds over TCP at 47 nodes, %d children", arity),
		Paper: "single-digit ms", Ours: fmt.Sprintf("with L = 118 µs %.2f ms in LogP time, %.2f by the base model, %d nodes being left", big.stable.mean/1e3, ethernet.base(big.live, arity)/1e3, big.live),
		Verdict: verdict(big.stable.mean < 10e3), Explanation: "Simulated.",
	}}
	if len(measured) < 3 {
		return append(claims, report.Claim{
			Where: where, What: fmt.Sprintf("how the measured times compare with the models, %d children", arity),
			Paper: "the contention model matches", Ours: "too little was measured", Verdict: report.Open, Explanation: "Three sizes at least are wanted (banyan bench membership).",
		})
	}
	largest := measured[len(measured)-1]
	offBase, offContention := measured.off(baseOf), measured.off(contentionOf)
	claims = append(claims,
		report.Claim{
			Where: where, What: fmt.Sprintf("the same measured, over loopback TCP on this machine, %d children", arity),
			Paper: "single-digit ms", Ours: fmt.Sprintf("%.2f ms (median of %d), %d nodes being left", largest.stabilise.median/1e3, largest.stabilise.count, largest.live),
			Verdict: verdict(largest.stabilise.median < 10e3), Explanation: "All members share the processors of one machine.",
		},
		report.Claim{
			Where: where, What: fmt.Sprintf("the base model doesn't resemble what is measured, the contention model does, %d children", arity),
			Paper:       "contention resembles it closely",
			Ours:        fmt.Sprintf("root mean square: the base model is %.0f %% off the medians, the contention model %.0f %%", 100*offBase, 100*offContention),
			Verdict:     verdict(offContention < offBase/2 && offContention < 0.25),
			Explanation: "The contention is that of figure 7, measured without any view: nothing is fitted to the times that it is compared with.",
		},
		e.slopeClaim(where, arity, simulated, measured),
		e.overestimateClaim(where, arity, measured),
		spreadClaim(where, arity, measured))
	if arity == 4 {
		claims = append(claims, coincidenceClaim(where, measured), heightClaim(where, measured))
	}
	if c, ok := e.extrapolation(arity, measured); ok {
		claims = append(claims, c)
	}
	return claims
}

// spreadClaim is about how far runs are apart.
func spreadClaim(where string, arity int, measured sizes) report.Claim {
	widest, narrowest := 0.0, math.Inf(1)
	for _, s := range measured {
		if s.stabilise.count > 1 {
			widest, narrowest = max(widest, s.stabilise.error99), min(narrowest, s.stabilise.error99)
		}
	}
	c := report.Claim{
		Where: where, What: fmt.Sprintf("spread at 99 %% confidence, %d children", arity),
		Paper: map[int]string{2: "±4 to ±86 µs", 4: "±12 to ±98 µs"}[arity], Ours: fmt.Sprintf("±%.0f to ±%.0f µs", narrowest, widest),
		Verdict: verdict(widest < 100), Explanation: "Theirs was a dedicated cluster, a node for each process. Here many processes share a few processors, with whatever else runs there.",
	}
	if widest < narrowest {
		c.Ours, c.Verdict, c.Explanation = "unknown", report.Open, "There is one run of each size."
	}
	return c
}

// slopeClaim is about the growth between two heights.
func (e *experiment) slopeClaim(where string, arity int, simulated []point, measured sizes) report.Claim {
	inLogP := 0.0 // the most that the simulated time changes while the height doesn't
	for i := 1; i < len(simulated); i++ {
		a, b := &simulated[i-1], &simulated[i]
		if viewtime.Levels(a.live, arity) == viewtime.Levels(b.live, arity) {
			inLogP = max(inLogP, math.Abs(b.stable.mean-a.stable.mean))
		}
	}
	slope := measured.slope(arity)
	c := report.Claim{
		Where: where, What: fmt.Sprintf("between two heights of the tree the time grows with the nodes, which LogP can't show, %d children", arity),
		Paper: "linearly", Ours: fmt.Sprintf("by %.1f µs with each node; in LogP time by %.0f µs at most", slope, inLogP),
		Verdict: verdict(slope > 0), Explanation: "The paper puts it down to a switch that serialises. Here it is the processors: each node more is as much more to do.",
	}
	if math.IsNaN(slope) {
		c.Ours, c.Verdict, c.Explanation = "unknown", report.Open, "There is one size of each height."
	}
	return c
}

// stepClaim is about where the base model's steps are.
func stepClaim() report.Claim {
	var steps []string
	for n := 3; n <= cluster; n++ {
		if ethernet.base(n, 4) > ethernet.base(n-1, 4) {
			steps = append(steps, strconv.Itoa(n-1))
		}
	}
	return report.Claim{
		Where: "section 7.2, figure 8", What: "with four children the base model has its steps above 5 and 21 nodes",
		Paper: "5, 21", Ours: strings.Join(steps, ", "), Verdict: verdict(slices.Equal(steps, []string{"5", "21"})), Explanation: "By the heights of the trees.",
	}
}
