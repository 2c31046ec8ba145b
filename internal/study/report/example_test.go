package report_test

import (
	"fmt"
	"os"
	"path/filepath"

	"banyan/internal/study/report"
)

// A reproduction of one figure and one claim.
func Example() {
	r := report.Report{
		Title:   "How long a plain tree takes",
		Source:  "A. Author: Trees, 2019",
		Command: "banyan reproduce trees --out trees --seed 1",
		About:   []string{"Simulated in the LogP model, L = 2 and o = 1."},
		Claims: []report.Claim{{
			Where: "section 4", What: "steps for 1,024 processes",
			Paper: "40", Ours: "38", Difference: report.Difference(40, 38),
			Verdict: report.Differs, Explanation: "The paper counts from 1.",
		}},
		Sections: []report.Section{{
			Title: "Figure 1",
			Figures: []*report.Figure{{
				Name: "figure-1", Title: "A binomial tree",
				X: report.Axis{Label: "processes", Log: true, Ticks: []float64{16, 128, 1024}},
				Y: report.Axis{Label: "latency (steps)"},
				Series: []report.Series{{
					Name: "median, 5 % and 95 % percentiles", Spread: report.Whiskers,
					Points: []report.Point{{X: 16, Y: 15, Low: 14, High: 17}, {X: 128, Y: 27, Low: 25, High: 30}, {X: 1024, Y: 38, Low: 36, High: 43}},
				}},
			}},
		}},
	}
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := r.Write(dir); err != nil {
		fmt.Println(err)
		return
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	claims, _ := os.ReadFile(filepath.Join(dir, "claims.csv"))
	fmt.Print(string(claims))
	// Output:
	// claims.csv
	// figure-1.csv
	// figure-1.png
	// figure-1.svg
	// index.html
	// report.md
	// where,claim,paper,ours,difference,verdict,explanation
	// section 4,"steps for 1,024 processes",40,38,−2 (−5 %),differs,The paper counts from 1.
}
