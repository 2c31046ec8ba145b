package membership

import (
	"fmt"
	"math"

	"banyan/internal/study/report"
)

// studyScale goes beyond the paper's nodes, and to trees that are flatter, with the constants of
// BlueGene/L over single hops.
func (e *experiment) studyScale() (part, error) {
	grow := &report.Figure{
		Name: "scale", Title: "Stabilisation time of large groups, BlueGene/L's constants",
		Caption: "Beyond the paper: the protocol in LogP time over single hops, and the model with fan-out.",
		X:       report.Axis{Label: "nodes that are left", Log: true}, Y: report.Axis{Label: "stabilisation time (µs)"},
	}
	within, biggest := true, point{}
	for i, arity := range []int{2, 4, 8} {
		name := fmt.Sprintf("%d children", arity)
		simulated := report.Series{Name: name, Style: report.Points, Look: i + 1}
		model := report.Series{Name: name + ", model", Style: report.Line, Look: i + 1}
		for nodes := 16; nodes <= e.Largest; nodes *= 4 {
			p, err := e.once(nodes-1, arity)
			if err != nil {
				return part{}, err
			}
			x, least, most := float64(p.live), bluegene.base(p.live, arity), bluegene.fanOut(p.live, arity)
			simulated.Points = append(simulated.Points, report.Point{X: x, Y: p.stable.mean})
			model.Points = append(model.Points, report.Point{X: x, Y: most})
			within = within && p.stable.mean >= least*(1-1e-9) && p.stable.mean <= most*(1+1e-9)
			if arity == 2 {
				biggest = p
			}
		}
		grow.Series = append(grow.Series, simulated, model)
	}
	flat, flatClaim, err := e.flat()
	if err != nil {
		return part{}, err
	}
	return part{
		claims: []report.Claim{{
			Where: "section 7.1", What: "the trend is likely to continue into the tens of thousands of nodes",
			Paper: "likely", Ours: fmt.Sprintf("%.1f µs over single hops at %s nodes, 2 children, %.1f by the model with fan-out", biggest.stable.mean, report.Number(float64(biggest.live)), bluegene.fanOut(biggest.live, 2)),
			Verdict: verdict(within), Explanation: "The time is between the base model and that with fan-out at every size, which are logarithmic; or else the claim differs.",
		}, flatClaim},
		section: report.Section{Title: "Beyond the paper", Figures: []*report.Figure{grow, flat}},
	}, nil
}

// once simulates a single run: without hops it doesn't matter which process dies.
func (e *experiment) once(live, arity int) (point, error) {
	one := *e
	one.Runs = 1
	return one.simulate(&bluegene, live, arity, false)
}

// flat compares arities, up to the tree of two levels.
func (e *experiment) flat() (*report.Figure, report.Claim, error) {
	live := e.Torus - 1
	f := &report.Figure{
		Name: "arity", Title: fmt.Sprintf("Stabilisation time over the number of children, %d nodes", live),
		Caption: "The protocol in LogP time over single hops with BlueGene/L's constants, and the models. To the base model, which doesn't know that a node sends to its children one after the other, the flattest tree is the best.",
		X:       report.Axis{Label: "children", Log: true}, Y: report.Axis{Label: "stabilisation time (µs)"},
	}
	simulated := report.Series{Name: "protocol, single hops", Style: report.Points, Look: 1}
	fanOut := report.Series{Name: "model with fan-out", Style: report.Line, Look: 1}
	base := report.Series{Name: "base model", Style: report.Line, Dashed: true, Look: 2}
	best, least, flattest := 0, math.Inf(1), 0.0
	for arity := 2; ; arity *= 2 {
		p, err := e.once(live, arity)
		if err != nil {
			return nil, report.Claim{}, err
		}
		x := float64(arity)
		simulated.Points = append(simulated.Points, report.Point{X: x, Y: p.stable.mean})
		fanOut.Points = append(fanOut.Points, report.Point{X: x, Y: bluegene.fanOut(live, arity)})
		base.Points = append(base.Points, report.Point{X: x, Y: bluegene.base(live, arity)})
		if p.stable.mean < least {
			best, least = arity, p.stable.mean
		}
		if flattest = p.stable.mean; arity >= live-1 {
			break
		}
	}
	f.Series = []report.Series{simulated, fanOut, base}
	return f, report.Claim{
		Where: "section 3.5", What: "extremely flat trees reduce performance, as upper nodes become bottlenecks",
		Paper: "so it is", Ours: fmt.Sprintf("%.0f µs with two levels, %.0f with %d children, the best, %d nodes", flattest, least, best, live),
		Verdict: verdict(flattest > 1.5*least && best < live/4), Explanation: "The bottleneck is o, a send's time.",
	}, nil
}
