package broadcast

import (
	"fmt"
	"math"

	"banyan/bench/peers"
	"banyan/internal/study/report"
)

// Row is what was measured of a setting.
type Row struct {
	Setting
	// Latency is in nanoseconds: the median of a job, of all rounds; NaN if all broadcasts were
	// missed.
	Latency peers.Spread
	// Ratio is that to the plain tree within a round; NaN without one.
	Ratio peers.Spread
	// Missed is the share of the broadcasts that didn't reach all live ranks in time.
	Missed float64
}

// rows sums up samples, which are by setting and round.
func rows(p *Plan, settings []Setting, samples [][]sample) []Row {
	all := make([]Row, len(settings))
	for i, s := range settings {
		base := -1
		for j, o := range settings {
			if base < 0 && o.Library == "banyan" && o.plain() && o.Ranks == s.Ranks && o.Bytes == s.Bytes {
				base = j
			}
		}
		var times, ratios []float64
		missed := 0
		for round, x := range samples[i] {
			if missed += x.missed; x.ns == 0 {
				continue
			}
			times = append(times, x.ns)
			if base >= 0 && samples[base][round].ns > 0 {
				ratios = append(ratios, x.ns/samples[base][round].ns)
			}
		}
		all[i] = Row{
			Setting: s, Latency: peers.SpreadOf(times), Ratio: peers.SpreadOf(ratios),
			Missed: float64(missed) / float64(p.broadcasts(s.Bytes)*len(samples[i])),
		}
	}
	return all
}

// Chart shows what protection costs: the ratio to the plain tree over the size, at the largest
// number of ranks. Series with dead ranks are dashed.
func Chart(all []Row) *report.Figure {
	ranks := 0
	for i := range all {
		ranks = max(ranks, all[i].Ranks)
	}
	f := &report.Figure{
		Name: "broadcast", Title: fmt.Sprintf("What protection costs: MPI_Bcast among %d ranks", ranks),
		X: report.Axis{Label: "bytes", Log: true}, Y: report.Axis{Label: "latency, as a ratio to the plain tree", Log: true},
	}
	index := map[string]int{}
	for i := range all {
		r := &all[i]
		if r.Ranks != ranks || math.IsNaN(r.Ratio.Median) || r.Missed > 0 {
			continue
		}
		name := r.Library
		if r.Library == "banyan" {
			name = r.Tree()
			if c := r.Correction(); c != "" {
				name += ", " + c
			}
		}
		if r.Dead > 0 {
			name += fmt.Sprintf(", %d dead", r.Dead)
		}
		at, known := index[name]
		if !known {
			at = len(f.Series)
			index[name] = at
			f.Series = append(f.Series, report.Series{Name: name, Dashed: r.Dead > 0})
		}
		f.Series[at].Points = append(f.Series[at].Points, report.Point{X: float64(r.Bytes), Y: r.Ratio.Median, Low: r.Ratio.Low, High: r.Ratio.High})
	}
	return f
}
