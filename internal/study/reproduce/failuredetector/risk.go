package failuredetector

import (
	"fmt"
	"math"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/report"
)

const year = risk.Seconds(365.25 * 86400)

// studyRisk is figure 3: arithmetic.
func (e *experiment) studyRisk() (part, error) {
	sizes := append(powers(7, 17, 1), fullSize)
	years := []risk.Seconds{20, 45, 100}
	mtbfs := make([]risk.Seconds, len(years))
	for i, y := range years {
		mtbfs[i] = y * year
	}
	points, err := risk.Figure3(sizes, mtbfs, 1e-6, 1e-9)
	if err != nil {
		return part{}, err
	}
	figure := report.Figure{
		Name: "figure-3", Title: "Figure 3: the largest time-out δ for a risk of 10⁻⁹",
		Caption: "The risk is that more than M = ⌊log2 n⌋ − 1 failures strike within T(M), for τ = 1 µs. " +
			"The steps are where M changes.",
		X: report.Axis{Label: "nodes", Log: true}, Y: report.Axis{Label: "largest δ (s)", Log: true},
	}
	at := map[risk.Seconds]risk.Seconds{} // the largest δ at full size
	for i, y := range years {
		s := report.Series{Name: fmt.Sprintf("μ = %v years", float64(y))}
		for j, n := range sizes {
			p := points[i*len(sizes)+j]
			s.Points = append(s.Points, report.Point{X: float64(n), Y: float64(p.Timeout)})
			at[y] = p.Timeout
		}
		figure.Series = append(figure.Series, s)
	}
	claim := func(y, paper float64, explanation string) report.Claim {
		ours := float64(at[risk.Seconds(y)])
		return report.Claim{
			Where: "section 3.3", What: fmt.Sprintf("largest δ at 256,000 nodes, μ = %v years", y),
			Paper: fmt.Sprintf("%v s", paper), Ours: fmt.Sprintf("%.1f s", ours), Difference: report.Difference(paper, ours),
			Verdict: verdict(math.Abs(ours-paper) < 0.5), Explanation: explanation,
		}
	}
	ratio := float64(at[45] / at[20])
	return part{
		claims: []report.Claim{
			claim(20, 22, ""),
			claim(45, 60, fmt.Sprintf("The bound is on δ/μ: at this size it grows from 20 to 45 years by a factor of %.3f, from the paper's own 22 s to 49.5 s. 60 s would take μ = %.1f years.",
				ratio, 45*60/float64(at[45]))),
		},
		section: report.Section{Title: "Non-stabilisation risk", Figures: []*report.Figure{&figure}},
	}, nil
}
