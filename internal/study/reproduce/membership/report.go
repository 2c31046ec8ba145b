package membership

import (
	"fmt"

	"banyan/internal/study/report"
)

// report joins what the studies have found.
func (e *experiment) report(parts []part) *report.Report {
	flag := ""
	if e.Mode != "default" {
		flag = " --" + e.Mode
	}
	if e.MeasuredFrom != "" {
		flag += " --measured " + e.MeasuredFrom
	}
	if e.ContendedFrom != "" {
		flag += " --contention " + e.ContendedFrom
	}
	measured := e.MeasuredBy
	if len(e.Measured) == 0 {
		measured = "nothing"
	}
	r := &report.Report{
		Title:   "Membership for MPI tasks: the paper's experiments, repeated",
		Source:  "Varma, Wang, Mueller, Engelmann, Scott: Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems. ICS 2006.",
		Command: fmt.Sprintf("banyan reproduce membership --out DIR%s --seed %d", flag, e.Seed),
		About: []string{
			"Figures 4 to 8 of the paper in form, and what its text says of them. The stabilisation time is the paper's: from the coordinator's first step until it has all acknowledgements. The paper's pictures were not at hand, so its own curves aren't drawn.",
			"Each figure has the paper's models with the paper's constants, and Banyan's protocol with the same constants in LogP time: the machines of real jobs, one message after the other. Figures 6 and 8 also have what was measured on one machine, and the models for that machine: the contention in them is that of figure 7, which is measured alone, on the same machine. " +
				"Nodes are counted after one has died: those who agree.",
			"banyan sim membership and banyan plan membership give any of these points alone.",
		},
		Settings: []report.Setting{
			{Name: "BlueGene/L", Value: "half a round trip L = 4.6 µs (of which the overhead o of either end 0.5 µs, ours), Ocp = 2 µs; a torus of 8×8×8 for a job of up to 512 nodes, of 8×8×16 for a larger one"},
			{Name: "Gigabit Ethernet", Value: "L = 118 µs (o = 10 µs, ours), Ocp = 2 µs"},
			{Name: "runs", Value: fmt.Sprintf("%d of each simulated point", e.Runs)},
			{Name: "measured", Value: measured},
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
