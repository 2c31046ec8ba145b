package replication

import (
	"fmt"

	"banyan/internal/study/report"
)

// experiment is what the studies share.
type experiment struct{ Parameters }

// part is what one study contributes to the report.
type part struct {
	claims  []report.Claim
	section report.Section
}

// Run returns the report.
func Run(p Parameters) (*report.Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	e := &experiment{p}
	measured, predicted := "nothing", "nothing"
	if len(p.Measured) > 0 {
		measured = fmt.Sprintf("%d runs, %s", len(p.Measured), p.MeasuredBy)
	}
	if len(p.Predicted) > 0 {
		predicted = fmt.Sprintf("%d runs, %s", len(p.Predicted), p.PredictedBy)
	}
	r := &report.Report{
		Title:   "Replication for send-deterministic programs: the paper's experiments, repeated",
		Source:  "Lefray, Ropars, Schiper: Replication for Send-Deterministic MPI HPC Applications. FTXS 2013.",
		Command: p.Command,
		About: []string{
			"Figure 7 and tables 1 and 2 of the paper in form, and what its text says of them. The paper ran 256 ranks with two replicas each on 64 nodes with InfiniBand, a core for each process.",
			"Where a machine has fewer cores than processes, a job with r replicas is compared with r jobs without replicas, started at once, on the same cores: twice the processes take twice the time anyway, and the question is how much more than that. " +
				"Each round runs every setting once, every second round in the other order. Overheads are estimated from the ratios of the rounds, by Hodges and Lehmann, with an interval of 95 % confidence by Wilcoxon's signed ranks. " +
				"A claim agrees, or differs, if the whole interval does; otherwise it is open.",
			"What programs print with replicas is held against what they print without. A program of the user's may print times: of its output those lines count that all its runs without replicas have in common.",
		},
		Settings: []report.Setting{{Name: "measured", Value: measured}, {Name: "simulated", Value: predicted}},
	}
	for _, q := range []part{e.figure7(), e.instructions(), e.traffic(), e.tables(), e.failover()} {
		r.Claims = append(r.Claims, q.claims...)
		if q.section.Title != "" && (len(q.section.Figures) > 0 || len(q.section.Tables) > 0) {
			r.Sections = append(r.Sections, q.section)
		}
	}
	return r, nil
}
