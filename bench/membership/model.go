package membership

import (
	"cmp"
	"maps"
	"slices"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// Model is the base model of the machine: without contention.
func (m *Machine) Model() viewtime.Model {
	return viewtime.Model{Latency: m.Latency, Compute: m.Compute}
}

// contention is the model with L under contention.
func (m *Machine) contention() viewtime.Model {
	model := m.Model()
	model.Contended = m.Contended
	return model
}

// Describe writes the times of the models into the rows.
func (m *Machine) Describe(rows []Row) {
	base, contention := m.Model(), m.contention()
	for i := range rows {
		r := &rows[i]
		r.Base, r.Contention = base.Base(r.Agree(), r.Arity), contention.Stabilise(r.Agree(), r.Arity)
	}
}

// medians are those of the deaths of single members, for settings of a sort. A run in which the
// machine did something else counts little in them.
func medians(rows []Row, of func(*Setting) bool) []viewtime.Measurement {
	times := map[Setting][]float64{}
	for i := range rows {
		if r := &rows[i]; r.Fault.Kind == Node && r.Agree() > 1 && of(&r.Setting) {
			times[r.Setting] = append(times[r.Setting], float64(r.Stabilise))
		}
	}
	settings := slices.SortedFunc(maps.Keys(times), func(a, b Setting) int {
		return cmp.Or(cmp.Compare(a.Arity, b.Arity), cmp.Compare(a.N, b.N))
	})
	var all []viewtime.Measurement
	for _, s := range settings {
		all = append(all, viewtime.Measurement{Nodes: s.Agree(), Arity: s.Arity, Time: risk.Seconds(Median(times[s]))})
	}
	return all
}

// match says how well the models describe measurements; false if there are none.
func (m *Machine) match(measured []viewtime.Measurement) (Match, bool) {
	base, contention := m.Model(), m.contention()
	ofBase, err := base.Off(measured)
	ofContention, err2 := contention.Off(measured)
	return Match{Count: len(measured), Base: ofBase, Contention: ofContention}, err == nil && err2 == nil
}

// Median returns the middle one of values, or the mean of the two in the middle.
func Median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return s[(n-1)/2]/2 + s[n/2]/2
}
