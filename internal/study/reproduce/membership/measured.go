package membership

import (
	"cmp"
	"math"
	"slices"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// sizes are the measurements of one tree's arity by the nodes that are left, those of a size
// together.
type sizes []size

type size struct {
	live      int
	stabilise spread // µs
	base      float64
	model     float64 // with contention
	busy      float64 // mean: the share of the processors' time that the members used
}

// measured puts the measurements of an arity together, for up to so many nodes.
func (e *experiment) measured(arity, most int) sizes {
	times := map[int][]float64{}
	models := map[int]Measurement{}
	busy := map[int]float64{}
	for _, m := range e.Measured {
		if m.Arity == arity && m.Live > 1 && m.Live <= most { // a member that is alone agrees at once
			times[m.Live] = append(times[m.Live], microseconds(m.Stabilise))
			models[m.Live] = m
			busy[m.Live] += m.Busy
		}
	}
	contention := func(m Measurement) risk.Seconds { return m.Contention }
	if model, ok := e.contentionModel(arity); ok {
		contention = func(m Measurement) risk.Seconds { return model.Stabilise(m.Live, m.Arity) }
	}
	var all sizes
	for live, samples := range times {
		m := models[live]
		all = append(all, size{live, spreadOf(samples), microseconds(m.Base), microseconds(contention(m)), busy[live] / float64(len(samples))})
	}
	slices.SortFunc(all, func(a, b size) int { return cmp.Compare(a.live, b.live) })
	return all
}

// off is the root of the mean square of how far the medians are from a model, as a share of them.
func (s sizes) off(model func(*size) float64) float64 {
	sum := 0.0
	for i := range s {
		d := model(&s[i])/s[i].stabilise.median - 1
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(s)))
}

func baseOf(s *size) float64       { return s.base }
func contentionOf(s *size) float64 { return s.model }

// above is for how many sizes a model is above the median.
func (s sizes) above(model func(*size) float64) int {
	n := 0
	for i := range s {
		if model(&s[i]) > s[i].stabilise.median {
			n++
		}
	}
	return n
}

// bias is how far a model is above the medians, in the mean, as a share of them.
func (s sizes) bias(model func(*size) float64) float64 {
	sum := 0.0
	for i := range s {
		sum += model(&s[i])/s[i].stabilise.median - 1
	}
	return sum / float64(len(s))
}

// slope is how much the medians grow with each node, in µs, between trees of one height: least
// squares with a constant for each height. It is NaN where each height has one size only.
func (s sizes) slope(arity int) float64 {
	byHeight := map[int]sizes{}
	var heights []int
	for _, x := range s {
		h := viewtime.Levels(x.live, arity)
		if byHeight[h] == nil {
			heights = append(heights, h)
		}
		byHeight[h] = append(byHeight[h], x)
	}
	var xx, xy float64
	for _, h := range heights {
		group := byHeight[h]
		var x, y float64
		for _, g := range group {
			x, y = x+float64(g.live)/float64(len(group)), y+g.stabilise.median/float64(len(group))
		}
		for _, g := range group {
			d := float64(g.live) - x
			xx, xy = xx+d*d, xy+d*(g.stabilise.median-y)
		}
	}
	return xy / xx
}

// machine is the model behind the measurements' base model, which is linear in L and Ocp: two
// heights give both. It says whether there are two.
func (e *experiment) machine() (viewtime.Model, bool) {
	levels := func(m *Measurement) float64 { return float64(viewtime.Levels(m.Live, m.Arity)) }
	for i := range e.Measured {
		a, b := &e.Measured[0], &e.Measured[i]
		ha, hb := levels(a), levels(b)
		if ha == hb {
			continue
		}
		// base = (2L + Ocp)·H − 2L
		level := float64(b.Base-a.Base) / (hb - ha)
		twice := level*ha - float64(a.Base)
		m := viewtime.Model{Latency: risk.Seconds(twice / 2), Compute: risk.Seconds(max(0, level-twice))}
		return m, m.Validate() == nil
	}
	return viewtime.Model{}, false
}

// contentionModel is the machine's model with L under contention; false where that, or the machine
// or such trees, weren't measured.
func (e *experiment) contentionModel(arity int) (viewtime.Model, bool) {
	m, ok := e.machine()
	m.Contended = e.Contended
	return m, ok && e.Contended != nil && m.ValidateTree(2, arity) == nil
}
