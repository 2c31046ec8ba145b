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
func (f *replicationFlags) tell(w io.Writer, comparisons []resilience.Comparison, rows []replicationRow) error {
	var text strings.Builder
	heal := "is replaced when the job restarts"
	if f.job.Heal > 0 {
		heal = fmt.Sprintf("is replaced within %v", f.job.Heal)
	}
	fmt.Fprintf(&text, "%v of work, on nodes that fail every %v each. A checkpoint takes %v, a restart %v.\n", f.job.Work, f.job.MTBF, f.job.Cost, f.job.Restart)
	fmt.Fprintf(&text, "Replication slows down by %v; a dead replica %s.\n", (*share)(&f.job.Overhead), heal)
	for _, c := range comparisons {
		var of []replicationRow
		for _, r := range rows {
			if r.compare == c {
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
func (f *replicationFlags) answer(c resilience.Comparison, rows []replicationRow) string {
	var text strings.Builder
	text.WriteString("With the same nodes, degree r having 1/r of the ranks, each with r times the work:\n")
	if c == resilience.SameRanks {
		text.Reset()
		text.WriteString("With the same ranks, degree r taking r times the nodes:\n")
	}
	for _, r := range rows[:len(f.degrees)] {
		if r.degree == 1 {
			continue
		}
		from := "never ends earlier than with checkpoints alone"
		if r.paysFrom > 0 {
			from = fmt.Sprintf("ends earlier than with checkpoints alone from %s %v on", about(r.paysFrom), c)
		}
		fmt.Fprintf(&text, "  degree %v %s\n", float64(r.degree), from)
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
func (f *replicationFlags) textColumns(c resilience.Comparison) []table.Column[replicationRow] {
	nodes := table.Col("nodes", func(r *replicationRow) any { return r.Nodes })
	ranks := table.Col("ranks", func(r *replicationRow) any { return r.Layout.Ranks() })
	degree := table.Col("degree", func(r *replicationRow) any { return strconv.FormatFloat(float64(r.degree), 'g', -1, 64) })
	columns := []table.Column[replicationRow]{nodes, degree, ranks}
	if c == resilience.SameRanks {
		columns = []table.Column[replicationRow]{ranks, degree, nodes}
	}
	columns = append(columns,
		table.Col("failures", func(r *replicationRow) any { return r.Failures }),
		table.Col("MTTI", func(r *replicationRow) any { return r.MTTI.String() }),
		table.Col("Young", func(r *replicationRow) any { return r.Young.String() }),
		table.Col("Daly", func(r *replicationRow) any { return r.Daly.String() }),
		table.Col("interval", func(r *replicationRow) any { return r.Interval.String() }),
		table.Col("time", func(r *replicationRow) any {
			if !r.finishes {
				return nil
			}
			return r.Time.String()
		}),
	)
	if f.runs > 0 {
		columns = append(columns, table.Col("simulated", func(r *replicationRow) any {
			if r.simulated == nil {
				return nil
			}
			return fmt.Sprintf("%v ± %v", r.simulated.Time, r.simulated.Error)
		}))
	}
	return append(columns,
		table.Col("efficiency", func(r *replicationRow) any { return strconv.FormatFloat(100*r.Efficiency, 'f', 1, 64) + "%" }),
		table.Col("best", bestMark),
	)
}

func bestMark(r *replicationRow) any {
	if r.best {
		return "*"
	}
	return nil
}

// columns are those of csv and json. Spans are in seconds.
func (f *replicationFlags) columns() []table.Column[replicationRow] {
	columns := []table.Column[replicationRow]{
		table.Col("compare", func(r *replicationRow) any { return r.compare.String() }),
		table.Col("nodes", func(r *replicationRow) any { return r.Nodes }),
		table.Col("ranks", func(r *replicationRow) any { return r.Layout.Ranks() }),
		table.Col("degree", func(r *replicationRow) any { return float64(r.degree) }),
		table.Col("failures", func(r *replicationRow) any { return r.Failures }),
		table.Col("mtti_s", func(r *replicationRow) any { return float64(r.MTTI) }),
		table.Col("young_s", func(r *replicationRow) any { return float64(r.Young) }),
		table.Col("daly_s", func(r *replicationRow) any { return float64(r.Daly) }),
		table.Col("interval_s", func(r *replicationRow) any { return float64(r.Interval) }),
		table.Col("time_young_s", func(r *replicationRow) any { return table.Optional(float64(r.YoungTime), r.finishes) }),
		table.Col("time_daly_s", func(r *replicationRow) any { return table.Optional(float64(r.DalyTime), r.finishes) }),
		table.Col("time_s", func(r *replicationRow) any { return table.Optional(float64(r.Time), r.finishes) }),
		table.Col("efficiency", func(r *replicationRow) any { return r.Efficiency }),
		table.Col("best", bestMark),
		table.Col("pays_from", func(r *replicationRow) any {
			if r.paysFrom == 0 {
				return nil
			}
			return r.paysFrom
		}),
	}
	if f.runs == 0 {
		return columns
	}
	return append(columns,
		table.Col("simulated_s", func(r *replicationRow) any {
			if r.simulated == nil {
				return nil
			}
			return float64(r.simulated.Time)
		}),
		table.Col("simulated_error_s", func(r *replicationRow) any {
			if r.simulated == nil {
				return nil
			}
			return float64(r.simulated.Error)
		}),
	)
}
