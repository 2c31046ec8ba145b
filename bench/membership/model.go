package membership

import (
	"cmp"
	"maps"
	"slices"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// Fit writes the times of the models into the rows, with the contention that fits the deaths of
// single members best. It returns how well that fits; if no contention does, it returns an error,
// and the rows have the model without contention.
func (m *Machine) Fit(rows []*Row) (viewtime.Fit, error) {
	model := m.Model()
	// Medians, so that a run in which the machine did something else counts little.
	times := map[Setting][]float64{}
	for _, r := range rows {
		if r.Fault.Kind == Node {
			times[r.Setting] = append(times[r.Setting], float64(r.Stabilise))
		}
	}
	settings := slices.SortedFunc(maps.Keys(times), func(a, b Setting) int {
		return cmp.Or(cmp.Compare(a.Arity, b.Arity), cmp.Compare(a.N, b.N))
	})
	var measured []viewtime.Measurement
	for _, s := range settings {
		measured = append(measured, viewtime.Measurement{Nodes: s.Agree(), Arity: s.Arity, Time: risk.Seconds(Median(times[s]))})
	}
	fit, err := model.FitContention(measured)
	if err == nil {
		model.Contention = fit.Contention
	}
	for _, r := range rows {
		r.Base, r.Contention = model.Base(r.Agree(), r.Arity), model.Stabilise(r.Agree(), r.Arity)
	}
	return fit, err
}

// Median returns the middle one of values, or the mean of the two in the middle.
func Median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return s[(n-1)/2]/2 + s[n/2]/2
}
