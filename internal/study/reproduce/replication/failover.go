package replication

import (
	"fmt"
	"slices"

	"banyan/internal/study/report"
)

// failover is what the paper leaves for later: runs with faults.
func (e *experiment) failover() part {
	all := e.items(Failover)
	if len(all) == 0 {
		return part{}
	}
	t := &report.Table{
		Name: "failover", Title: "Pause after a kill", Caption: "Milliseconds from the kill of a sender's replica to the next message that its receiver has from another.",
		Columns: []string{"protocol", "transport", "kills", "median, ms", "quartiles", "longest"},
	}
	for _, s := range []Setting{Parallel, Mirror} {
		for _, x := range all {
			times := x.seconds(s)
			if len(times) == 0 {
				continue
			}
			ms := func(q float64) string { return fmt.Sprintf("%.1f", 1e3*quantile(times, q)) }
			t.Rows = append(t.Rows, []string{string(s), x.name, fmt.Sprint(len(times)), ms(0.5), ms(0.25) + " to " + ms(0.75), fmt.Sprintf("%.1f", 1e3*slices.Max(times))})
		}
	}
	return part{section: report.Section{
		Title: "Beyond the paper: deaths", Tables: []*report.Table{t},
		Text: []string{"The paper's evaluation has no faults (section 4.2: future work). Here a replica of a rank that sends 5,000 messages a second is killed."},
	}}
}
