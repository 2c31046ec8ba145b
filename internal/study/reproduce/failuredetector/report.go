package failuredetector

import (
	"fmt"
	"strings"

	"banyan/internal/study/report"
)

// report joins what the studies have found.
func (e *experiment) report(parts []part) *report.Report {
	var machines []string
	for _, m := range e.Machines {
		machines = append(machines, fmt.Sprintf("%s (%d, %d)", report.Number(float64(m.Nodes)), m.Forced, m.Random))
	}
	flag := ""
	if e.Mode != "default" {
		flag = " --" + e.Mode
	}
	r := &report.Report{
		Title:   "A failure detector for HPC platforms: the report's simulations, repeated",
		Source:  "Bosilca, Bouteiller, Guermouche, Hérault, Robert, Sens, Dongarra: A Failure Detector for HPC Platforms. INRIA Research Report RR-9024, 2017.",
		Command: fmt.Sprintf("banyan reproduce failure-detector --out DIR%s --seed %d", flag, e.Seed),
		About: []string{
			"Every simulated figure of the paper and the numbers of its text, and figure 10 of section 5, which the paper measured on Titan, simulated. Figures 8 and 9 are measurements: banyan bench detector. The paper's pictures were not at hand; it is compared with what its text says.",
			"Figures 4 and 5 by two engines. The abstraction computes when time-outs expire instead of simulating heartbeats, as the authors' simulator did. The machines are the detector of real jobs, of which each node has one, " +
				"under the one-port model: every heartbeat and every copy of a broadcast. Both play the same scenarios, and the table of claims says how far they are apart.",
			"A run begins with a failure at time 0, in a random phase of everybody's heartbeats, and ends when all live nodes know of all failures. Means have 95 % confidence intervals by the normal approximation.",
			"banyan sim detector runs any of these points, with the same seed and outcome.",
		},
		Settings: []report.Setting{
			{Name: "LOWNOISE", Value: "η = 10 s, δ = 60 s"},
			{Name: "LOWLAT", Value: "η = 0.1 s, δ = 1 s"},
			{Name: "τ", Value: "1 µs; a message takes a time drawn from (0, τ]"},
			{Name: "abstraction", Value: fmt.Sprintf("%d runs of each point", e.Runs)},
			{Name: "machines", Value: "nodes (runs in figures 4a and 4b, in figure 5): " + strings.Join(machines, ", ")},
			{Name: "random probing", Value: fmt.Sprintf("%d runs of each point", e.ProbingRuns)},
			{Name: "seed", Value: fmt.Sprint(e.Seed)},
		},
	}
	for _, p := range parts {
		r.Claims = append(r.Claims, p.claims...)
		if p.section.Title != "" {
			r.Sections = append(r.Sections, p.section)
		}
	}
	return r
}
