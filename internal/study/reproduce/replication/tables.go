package replication

import (
	"fmt"
	"strings"

	"banyan/internal/study/report"
)

// tables are tables 1 and 2.
func (e *experiment) tables() part {
	apps := e.items(Application)
	q := part{section: report.Section{
		Title: "Tables 1 and 2: applications",
		Text: []string{"The paper's columns are those of 256 ranks with two replicas each. Beside them is what was measured here, and what was simulated. " +
			"cg and multigrid, programs of this project, stand for CG and MG, and with receives from any source for the programs of table 2. " +
			"Overheads are by the time that passed, and by that of all processors, which leaves out what they did for others."},
	}}
	names := map[int]string{1: "Table 1: NAS benchmarks", 2: "Table 2: receives from any source"}
	for _, number := range []int{1, 2} {
		t := e.newTable(fmt.Sprintf("table-%d", number), names[number])
		for i := range paper {
			if paper[i].table != number {
				continue
			}
			found := false
			for _, x := range apps {
				if rowOf(x.name) == paper[i].name {
					found = true
					t.Rows = append(t.Rows, e.row(&paper[i], x))
				}
			}
			if !found {
				t.Rows = append(t.Rows, e.row(&paper[i], nil))
			}
		}
		for _, x := range apps {
			if number == 2 && anySource(x.name) {
				t.Rows = append(t.Rows, e.row(nil, x))
			}
		}
		q.section.Tables = append(q.section.Tables, t)
	}
	others := e.newTable("others", "Other programs")
	for _, x := range apps {
		if rowOf(x.name) == "" && !anySource(x.name) {
			others.Rows = append(others.Rows, e.row(nil, x))
		}
	}
	if len(others.Rows) > 0 {
		q.section.Tables = append(q.section.Tables, others)
	}
	if len(e.Predicted) > 0 {
		q.section.Tables = append(q.section.Tables, e.predictionTable())
	}
	q.claims = append(q.claims, printedClaim())
	q.claims = append(q.claims, e.applicationClaims(apps)...)
	q.claims = append(q.claims, e.predictionClaims()...)
	return q
}

// newTable has the columns of both tables. Those of mirror and of what was simulated are there if
// there is something to put in.
func (e *experiment) newTable(name, title string) *report.Table {
	t := &report.Table{Name: name, Title: title, Caption: "Overheads in percent, with 95 % confidence.", Columns: []string{
		"application", "paper: native, s", "replicated, s", "overhead, %",
		"measured here", "ranks × replicas", "side by side, s", "replicated, s", "overhead, %", "processors' time, %",
	}}
	if e.mirrored() {
		t.Columns = append(t.Columns, "mirror, %")
	}
	if len(e.Predicted) > 0 {
		t.Columns = append(t.Columns, "simulated: ranks × replicas", "overhead, %")
	}
	return t
}

// mirrored tells whether applications ran with the mirror protocol.
func (e *experiment) mirrored() bool {
	for i := range e.Measured {
		if m := &e.Measured[i]; m.Part == Application && m.Setting == Mirror {
			return true
		}
	}
	return false
}

// row sets one row of the paper, if there is one, beside one application, if it was measured.
func (e *experiment) row(p *printed, x *item) []string {
	const none = "—"
	row := []string{none, none, none, none}
	if p != nil {
		row = []string{p.name, fmt.Sprintf("%.2f", p.native), fmt.Sprintf("%.2f", p.replicated), fmt.Sprintf("%.2f", 100*p.computed())}
	}
	measured := []string{none, none, none, none, none, none}
	if x != nil {
		measured = []string{
			x.name, fmt.Sprintf("%d × %d", x.ranks, x.replicas), fmt.Sprintf("%.2f", x.median(Beside)), fmt.Sprintf("%.2f", x.median(Parallel)),
			overheadText(x.overhead(Parallel, elapsed)), overheadText(x.overhead(Parallel, cpu)),
		}
	}
	row = append(row, measured...)
	if e.mirrored() {
		mirror := none
		if x != nil {
			mirror = overheadText(x.overhead(Mirror, elapsed))
		}
		row = append(row, mirror)
	}
	if len(e.Predicted) > 0 {
		size, overhead := none, none
		if p != nil {
			if best := e.prediction(p.name); best != nil {
				size, overhead = fmt.Sprintf("%d × %d", best.Ranks, best.Replicas), percent(best.overhead())
			}
		}
		row = append(row, size, overhead)
	}
	return row
}

// prediction is that of a row of the paper, with the ranks nearest to the paper's.
func (e *experiment) prediction(row string) (best *Prediction) {
	off := func(p *Prediction) int { return max(p.Ranks-paperRanks, paperRanks-p.Ranks) }
	for i := range e.Predicted {
		p := &e.Predicted[i]
		if p.StandsFor == row && p.Setting == Parallel && p.Replicas == 2 && (best == nil || off(p) < off(best)) {
			best = p
		}
	}
	return best
}

// predictionTable is all that was simulated.
func (e *experiment) predictionTable() *report.Table {
	t := &report.Table{
		Name: "simulated", Title: "Simulated", Caption: "Patterns of communication, with the costs of messages that the simulation was given.",
		Columns: []string{"pattern", "stands for", "ranks", "replicas", "protocol", "bytes", "computation, µs", "native, s", "replicated, s", "overhead, %"},
	}
	for i := range e.Predicted {
		p := &e.Predicted[i]
		t.Rows = append(t.Rows, []string{
			p.Pattern, p.StandsFor, fmt.Sprint(p.Ranks), fmt.Sprint(p.Replicas), string(p.Setting), p.Bytes, p.Compute,
			fmt.Sprintf("%.4g", p.Native), fmt.Sprintf("%.4g", p.Replicated), percent(p.overhead()),
		})
	}
	return t
}

// printedClaim holds the paper's overheads against its own times.
func printedClaim() report.Claim {
	c := report.Claim{
		Where: "tables 1 and 2", What: "the printed overheads are those of the printed times", Paper: "as printed", Verdict: report.Agrees,
	}
	var wrong []string
	for i := range paper {
		p := &paper[i]
		if d := 100*p.computed() - p.overhead; d > 0.01 || d < -0.01 {
			wrong = append(wrong, fmt.Sprintf("%s: %.2f %% by its times, not %g %%", p.name, 100*p.computed(), p.overhead))
		}
	}
	c.Ours = fmt.Sprintf("%d of %d", len(paper)-len(wrong), len(paper))
	if len(wrong) > 0 {
		c.Ours += "; " + strings.Join(wrong, "; ")
		c.Verdict, c.Explanation = report.Differs, "Computed from the paper's columns. A slip: 0.0018 is the share, not the percentage."
	}
	return c
}
