package failuredetector

import (
	"fmt"
	"math"

	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/pieces"
	"banyan/internal/study/report"
)

// studyBroadcast has the machines spread the news of one death, with messages that all take τ.
func (e *experiment) studyBroadcast() (part, error) {
	figure := report.Figure{
		Name: "broadcast", Title: "How long a broadcast takes under the one-port model",
		Caption: "From the detection of one failure until all live nodes know of it, by the machines, in units of τ.",
		X:       report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "time (τ)"},
	}
	measured := map[bool]*report.Series{
		true:  {Name: "messages of τ", Style: report.Points, Look: 1},
		false: {Name: "messages of (0, τ]", Style: report.Points, Look: 2},
	}
	bounds := []report.Series{{Name: "4 log2 n: two cubes", Style: report.Line, Look: 3}, {Name: "8 log2 n: with heartbeats between", Style: report.Line, Dashed: true, Look: 4}}
	worst, largest, longest := 0.0, 0, 0.0
	for _, share := range e.Machines {
		n := share.Nodes
		x := math.Log2(float64(n))
		for i, factor := range []float64{4, 8} {
			bounds[i].Points = append(bounds[i].Points, report.Point{X: float64(n), Y: factor * x})
		}
		for _, fixed := range []bool{true, false} {
			s := lowNoise.settings(n)
			s.Fixed = fixed
			o, err := e.campaign("broadcast", s, stabilisation.Machine, 1)
			if err != nil {
				return part{}, err
			}
			tau := float64(o[0].First-o[0].Detected) / float64(s.Tau)
			measured[fixed].Points = append(measured[fixed].Points, report.Point{X: float64(n), Y: tau})
			worst = max(worst, tau/x)
			if fixed {
				largest, longest = n, tau
			}
		}
	}
	figure.Series = append([]report.Series{*measured[true], *measured[false]}, bounds...)
	return part{
		claims: []report.Claim{{
			Where: "section 3.1.2", What: "a broadcast takes at most 4τ log n alone, and B(n) = 8τ log n between heartbeats",
			Paper: "4τ log2 n", Ours: fmt.Sprintf("%.3g τ log2 n at most; %.3g τ at %d nodes", worst, longest, largest),
			Verdict: verdict(worst <= 4), Explanation: "Ramanathan and Shin's rotated trees in both cubes at once, whose copies overlap.",
		}},
		section: report.Section{Title: "Broadcasts", Figures: []*report.Figure{&figure}},
	}, nil
}

// studyQuiet counts the messages of the machines when nothing happens.
func (e *experiment) studyQuiet() (part, error) {
	s := lowNoise.settings(e.Quiet)
	e.progress("heartbeats", 0, 1)
	type quiet struct {
		Sent stabilisation.Messages
		Live int
	}
	found, err := pieces.Once(e.ctx, e.store, "heartbeats", func() (q quiet, err error) {
		q.Sent, q.Live, err = stabilisation.NewMachines(&s).Quiet(e.ctx, stabilisation.NewScenario(&s, e.Seed), 1)
		return q, err
	})
	if err != nil {
		return part{}, err
	}
	sent, live := found.Sent, found.Live
	others := sent.Observes + sent.News + sent.Others
	claim := report.Claim{
		Where: "section 4.3", What: "messages in a period, one of 100,000 nodes being dead",
		Paper: "99,999", Ours: fmt.Sprintf("%s heartbeats, %d others", report.Number(float64(sent.Heartbeats)), others),
		Difference: report.Difference(99999, float64(sent.Heartbeats+others)), Verdict: verdict(sent.Heartbeats == 99999 && others == 0),
	}
	if e.Quiet != 100000 {
		claim.Paper, claim.Difference = fmt.Sprintf("%d with %d nodes", e.Quiet-1, e.Quiet), ""
		claim.Verdict = verdict(sent.Heartbeats == live && others == 0)
		claim.Explanation = "Counted with fewer nodes in this mode."
	}
	return part{claims: []report.Claim{claim}}, nil
}

// studyHosts finds the cost of a dead host, which the paper doesn't mention.
func (e *experiment) studyHosts() (part, error) {
	t := report.Table{
		Name: "hosts", Title: "All nodes of a host fail at once (LOWNOISE, 1,024 nodes)", Caption: "until all know of all, in units of δ; the abstraction, and with fewer runs the machines where theorem 1 covers the failures",
		Columns: []string{"nodes of a host", "(2m−1)δ", "ring by rank, longest", "machines", "interleaved ring, longest", "machines"},
	}
	for _, m := range []int{2, 4, 8, 16} {
		row := []string{fmt.Sprint(m), fmt.Sprint(2*m - 1)}
		for _, order := range []stabilisation.Order{stabilisation.ByRank, stabilisation.Interleaved} {
			s := lowNoise.settings(1024)
			s.Law, s.HostSize, s.Order = stabilisation.WholeHost, m, order
			for _, engine := range []stabilisation.EngineKind{stabilisation.Abstract, stabilisation.Machine} {
				runs := min(e.Runs, 1000)
				if engine == stabilisation.Machine {
					if m > s.MostFailures() {
						row = append(row, "")
						continue
					}
					runs = 3
				}
				o, err := e.campaign("hosts", s, engine, runs)
				if err != nil {
					return part{}, err
				}
				row = append(row, fmt.Sprintf("%.3f", s.Summarise(o).All.Greatest/(float64(s.Timeout)/1e9)))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return part{section: report.Section{
		Title:  "Whole hosts",
		Text:   []string{"Beyond the paper. On a ring by rank the m nodes of a host are neighbours, and are found one after the other: the first after δ, each other 2δ after that. On a ring that is interleaved by host each has an observer that lives."},
		Tables: []*report.Table{&t},
	}}, nil
}
