package membership

import (
	"slices"

	"banyan/internal/study/planning/risk"
)

// Summary is what the runs of one setting showed together. Times are medians.
type Summary struct {
	Setting
	Runs                  int
	Stabilise             risk.Seconds
	Least, Most           risk.Seconds // of Stabilise
	Commit                risk.Seconds
	LeastSent, MostSent   int     // messages of a run
	Busy                  float64 // median
	Base, Contention      risk.Seconds
	stabilised, committed []float64
	busy                  []float64
}

// Summarise puts the rows of each setting together, in the order in which settings come.
func Summarise(rows []Row) []*Summary {
	var all []*Summary
	of := map[Setting]*Summary{}
	for i := range rows {
		r := &rows[i]
		s := of[r.Setting]
		if s == nil {
			s = &Summary{Setting: r.Setting, Base: r.Base, Contention: r.Contention, LeastSent: r.Messages}
			of[r.Setting], all = s, append(all, s)
		}
		s.Runs++
		s.LeastSent, s.MostSent = min(s.LeastSent, r.Messages), max(s.MostSent, r.Messages)
		s.stabilised = append(s.stabilised, float64(r.Stabilise))
		s.committed = append(s.committed, float64(r.Commit))
		s.busy = append(s.busy, r.Busy)
	}
	for _, s := range all {
		s.Stabilise, s.Commit = risk.Seconds(Median(s.stabilised)), risk.Seconds(Median(s.committed))
		s.Busy = Median(s.busy)
		s.Least, s.Most = risk.Seconds(slices.Min(s.stabilised)), risk.Seconds(slices.Max(s.stabilised))
	}
	return all
}
