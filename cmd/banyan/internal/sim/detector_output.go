package sim

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/table"
)

// detectorRow is what is printed of a campaign, or with --each of a run.
type detectorRow struct {
	*stabilisation.Campaign
	run     int
	summary stabilisation.Summary
	stabilisation.Outcome
}

// detectorColumns are those of summaries. Times are in seconds.
var detectorColumns = []table.Column[detectorRow]{
	table.Col("nodes", func(r *detectorRow) any { return r.Nodes }),
	table.Col("runs", func(r *detectorRow) any { return r.summary.Runs }),
	table.Col("unstable", func(r *detectorRow) any { return r.summary.Unstable }),
	table.Col("false", func(r *detectorRow) any { return r.summary.False }),
	table.Col("first_s", func(r *detectorRow) any { return r.summary.First.Mean }),
	table.Col("first_error", func(r *detectorRow) any { return r.summary.First.Error }),
	table.Col("telling_s", func(r *detectorRow) any { return r.summary.Telling.Mean }),
	table.Col("all_s", func(r *detectorRow) any { return r.summary.All.Mean }),
	table.Col("all_error", func(r *detectorRow) any { return r.summary.All.Error }),
	table.Col("all_greatest_s", func(r *detectorRow) any { return r.summary.All.Greatest }),
	table.Col("failures", func(r *detectorRow) any { return r.summary.Failures.Mean }),
	table.Col("broadcasts", func(r *detectorRow) any { return r.summary.Broadcasts.Mean }),
	table.Col("heartbeats", func(r *detectorRow) any { return r.summary.Heartbeats.Mean }),
	table.Col("observes", func(r *detectorRow) any { return r.summary.Observes.Mean }),
	table.Col("news", func(r *detectorRow) any { return r.summary.News.Mean }),
	table.Col("others", func(r *detectorRow) any { return r.summary.Others.Mean }),
	table.Col("of_bound", func(r *detectorRow) any { return r.summary.OfBound }),
	table.Col("exceeded", func(r *detectorRow) any { return r.summary.Exceeded }),
	table.Col("beyond", func(r *detectorRow) any { return r.summary.Beyond }),
}

// detectorRunColumns are those of single runs.
var detectorRunColumns = []table.Column[detectorRow]{
	table.Col("nodes", func(r *detectorRow) any { return r.Nodes }),
	table.Col("run", func(r *detectorRow) any { return r.run }),
	table.Col("stable", func(r *detectorRow) any { return r.Stable }),
	table.Col("detected_s", func(r *detectorRow) any { return float64(r.Detected) / 1e9 }),
	table.Col("first_s", func(r *detectorRow) any { return float64(r.First) / 1e9 }),
	table.Col("all_s", func(r *detectorRow) any { return float64(r.All) / 1e9 }),
	table.Col("failures", func(r *detectorRow) any { return r.Outcome.Failures }),
	table.Col("broadcasts", func(r *detectorRow) any { return r.Broadcasts }),
	table.Col("heartbeats", func(r *detectorRow) any { return r.Messages.Heartbeats }),
	table.Col("observes", func(r *detectorRow) any { return r.Messages.Observes }),
	table.Col("news", func(r *detectorRow) any { return r.Messages.News }),
	table.Col("others", func(r *detectorRow) any { return r.Messages.Others }),
	table.Col("bound_s", func(r *detectorRow) any { return r.Bound(r.Outcome.Failures) / 1e9 }),
}

// explainStabilisation writes one campaign for people.
func explainStabilisation(w io.Writer, r *detectorRow) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	m := &r.summary
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	line("runs", "%d of %d nodes", m.Runs, r.Nodes)
	switch {
	case m.Unstable == m.Runs:
		line("unstable", "all runs were given up")
	case m.Unstable > 0:
		line("unstable", "%d runs were given up; the rest is of the others", m.Unstable)
	}
	if m.False > 0 {
		line("false suspicions", "%d", m.False)
	}
	if m.Unstable < m.Runs {
		spread := func(name string, s *stabilisation.Spread, unit string) {
			value := func(v float64) string { return significant(v) + unit }
			text := value(s.Mean)
			if s.Least != s.Greatest {
				text += fmt.Sprintf(" ± %.2g, from %s to %s", s.Error, value(s.Least), value(s.Greatest))
			}
			line(name, "%s", text)
		}
		spread("all know first", &m.First, " s")
		line("from its detection", "%v", risk.Seconds(m.Telling.Mean))
		spread("all know all", &m.All, " s")
		spread("failures", &m.Failures, "")
		spread("broadcasts", &m.Broadcasts, "")
		spread("heartbeats", &m.Heartbeats, "")
		spread("observes", &m.Observes, "")
		spread("news", &m.News, "")
		spread("others", &m.Others, "")
	}
	most := r.MostFailures()
	switch {
	case m.Beyond == m.Runs:
		line("theorem 1", "covers %d failures; there were more", most)
	default:
		line("theorem 1", "%d runs exceeded their bound; at most %.3g %% of it was taken", m.Exceeded, 100*m.OfBound)
	}
	if m.Beyond > 0 && m.Beyond < m.Runs {
		line("", "%d runs had more than the %d failures that it covers", m.Beyond, most)
	}
	return out.Flush()
}

// significant writes a number's whole part in full, and as much of its fraction as makes five
// digits.
func significant(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, 4-int(math.Log10(max(1, v)))), 64)
}
