package plan

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"banyan/internal/study/planning/resilience"
	"banyan/internal/study/report"
	"banyan/internal/study/table"
)

// tell writes for people: the answer in words, then a table for each comparison.
func (f *replicationFlags) tell(w io.Writer, comparisons []resilience.Comparison, rows []resilience.Case) error {
	var text strings.Builder
	heal := "is replaced when the job restarts"
	if f.job.Heal > 0 {
		heal = fmt.Sprintf("is replaced within %v", f.job.Heal)
	}
	fmt.Fprintf(&text, "%v of work, on nodes that fail every %v each. A checkpoint takes %v, a restart %v.\n", f.job.Work, f.job.MTBF, f.job.Cost, f.job.Restart)
	fmt.Fprintf(&text, "Replication slows down by %v; a dead replica %s.\n", (*share)(&f.job.Overhead), heal)
	for _, c := range comparisons {
		var of []resilience.Case
		for _, r := range rows {
			if r.Compare == c {
				of = append(of, r)
			}
		}
		text.WriteString("\n" + f.answer(c, of) + "\n")
		if err := table.Write(&text, table.Text, f.textColumns(c), of); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// answer says from how many nodes or ranks on the degrees pay.
func (f *replicationFlags) answer(c resilience.Comparison, rows []resilience.Case) string {
	var text strings.Builder
	text.WriteString("With the same nodes, degree r having 1/r of the ranks, each with r times the work:\n")
	if c == resilience.SameRanks {
		text.Reset()
		text.WriteString("With the same ranks, degree r taking r times the nodes:\n")
	}
	for _, r := range rows[:len(f.degrees)] {
		if r.Degree == 1 {
			continue
		}
		from := "never ends earlier than with checkpoints alone"
		if r.PaysFrom > 0 {
			from = fmt.Sprintf("ends earlier than with checkpoints alone from %s %v on", about(r.PaysFrom), c)
		}
		fmt.Fprintf(&text, "  degree %v %s\n", float64(r.Degree), from)
	}
	return text.String()
}

// about returns a number with three significant digits.
func about(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(float64(n), 'g', 3, 64), 64)
	return "about " + report.Number(rounded)
}

// textColumns are those for people.
func (f *replicationFlags) textColumns(c resilience.Comparison) []table.Column[resilience.Case] {
	nodes := table.Col("nodes", func(r *resilience.Case) any { return r.Nodes })
	ranks := table.Col("ranks", func(r *resilience.Case) any { return r.Layout.Ranks() })
	degree := table.Col("degree", func(r *resilience.Case) any { return strconv.FormatFloat(float64(r.Degree), 'g', -1, 64) })
	columns := []table.Column[resilience.Case]{nodes, degree, ranks}
	if c == resilience.SameRanks {
		columns = []table.Column[resilience.Case]{ranks, degree, nodes}
	}
	columns = append(columns,
		table.Col("failures", func(r *resilience.Case) any { return r.Failures }),
		table.Col("MTTI", func(r *resilience.Case) any { return r.MTTI.String() }),
		table.Col("Young", func(r *resilience.Case) any { return r.Young.String() }),
		table.Col("Daly", func(r *resilience.Case) any { return r.Daly.String() }),
		table.Col("interval", func(r *resilience.Case) any { return r.Interval.String() }),
		table.Col("time", func(r *resilience.Case) any {
			if !r.Ends {
				return nil
			}
			return r.Time.String()
		}),
	)
	if f.runs > 0 {
		columns = append(columns, table.Col("simulated", func(r *resilience.Case) any {
			if r.Simulated == nil {
				return nil
			}
			return fmt.Sprintf("%v ± %v", r.Simulated.Time, r.Simulated.Error)
		}))
	}
	return append(columns,
		table.Col("efficiency", func(r *resilience.Case) any { return strconv.FormatFloat(100*r.Efficiency, 'f', 1, 64) + "%" }),
		table.Col("best", bestMark),
	)
}

func bestMark(r *resilience.Case) any {
	if r.Best {
		return "*"
	}
	return nil
}

// columns are those of csv and json. Spans are in seconds.
func (f *replicationFlags) columns() []table.Column[resilience.Case] {
	columns := []table.Column[resilience.Case]{
		table.Col("compare", func(r *resilience.Case) any { return r.Compare.String() }),
		table.Col("nodes", func(r *resilience.Case) any { return r.Nodes }),
		table.Col("ranks", func(r *resilience.Case) any { return r.Layout.Ranks() }),
		table.Col("degree", func(r *resilience.Case) any { return float64(r.Degree) }),
		table.Col("failures", func(r *resilience.Case) any { return r.Failures }),
		table.Col("mtti_s", func(r *resilience.Case) any { return float64(r.MTTI) }),
		table.Col("young_s", func(r *resilience.Case) any { return float64(r.Young) }),
		table.Col("daly_s", func(r *resilience.Case) any { return float64(r.Daly) }),
		table.Col("interval_s", func(r *resilience.Case) any { return float64(r.Interval) }),
		table.Col("time_young_s", func(r *resilience.Case) any { return table.Optional(float64(r.YoungTime), r.Ends) }),
		table.Col("time_daly_s", func(r *resilience.Case) any { return table.Optional(float64(r.DalyTime), r.Ends) }),
		table.Col("time_s", func(r *resilience.Case) any { return table.Optional(float64(r.Time), r.Ends) }),
		table.Col("efficiency", func(r *resilience.Case) any { return r.Efficiency }),
		table.Col("best", bestMark),
		table.Col("pays_from", func(r *resilience.Case) any {
			if r.PaysFrom == 0 {
				return nil
			}
			return r.PaysFrom
		}),
	}
	if f.runs == 0 {
		return columns
	}
	return append(columns,
		table.Col("simulated_s", func(r *resilience.Case) any {
			if r.Simulated == nil {
				return nil
			}
			return float64(r.Simulated.Time)
		}),
		table.Col("simulated_error_s", func(r *resilience.Case) any {
			if r.Simulated == nil {
				return nil
			}
			return float64(r.Simulated.Error)
		}),
	)
}
