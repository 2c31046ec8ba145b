package contention

import (
	"slices"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// Latencies are the rows as the model takes them.
func Latencies(rows []Row) []viewtime.Latency {
	var all []viewtime.Latency
	for _, r := range rows {
		all = append(all, viewtime.Latency{Children: r.Children, Nodes: r.Nodes, Time: r.Latency})
	}
	return all
}

// Medians put the runs of each point together: the median of their latencies, and the least and the
// most of any parent. Rows of a point follow each other.
func Medians(rows []Row) (all []Row) {
	for len(rows) > 0 {
		x, n := rows[0], 0
		var times, works []risk.Seconds
		for ; n < len(rows) && rows[n].Children == x.Children && rows[n].Nodes == x.Nodes; n++ {
			times, works = append(times, rows[n].Latency), append(works, rows[n].Work)
			x.Least, x.Most = min(x.Least, rows[n].Least), max(x.Most, rows[n].Most)
		}
		slices.Sort(times)
		slices.Sort(works)
		x.Latency, x.Work = times[(n-1)/2]/2+times[n/2]/2, works[(n-1)/2]/2+works[n/2]/2
		all, rows = append(all, x), rows[n:]
	}
	return all
}
