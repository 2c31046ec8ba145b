package summary

import (
	"iter"
	"maps"
	"slices"

	"banyan/internal/proto"
)

// times counts times of a broadcast. Nearly all are small numbers of steps, so that a slice holds
// their counts; with a large latency there are few of them, far apart.
type times struct {
	near  []int // by the time, below farAway
	far   map[proto.Time]int
	total int
	last  proto.Time // the latest, 0 if there is none
}

const farAway = 1 << 12

func (t *times) add(at proto.Time) {
	t.total++
	t.last = max(t.last, at)
	if at < proto.Time(len(t.near)) {
		t.near[at]++
		return
	}
	if at < farAway {
		t.near = append(t.near, make([]int, int(at)+1-len(t.near))...)
		t.near[at]++
		return
	}
	if t.far == nil {
		t.far = map[proto.Time]int{}
	}
	t.far[at]++
}

// all are the times, ascending, and how often each came.
func (t *times) all() iter.Seq2[proto.Time, int] {
	return func(yield func(proto.Time, int) bool) {
		for at, n := range t.near {
			if n > 0 && !yield(proto.Time(at), n) {
				return
			}
		}
		for _, at := range slices.Sorted(maps.Keys(t.far)) {
			if !yield(at, t.far[at]) {
				return
			}
		}
	}
}

// quantile is the earliest time by which this part of all had come.
func (t *times) quantile(part float64) proto.Time {
	need := int(part * float64(t.total))
	if float64(need) < part*float64(t.total) {
		need++
	}
	for at, n := range t.all() {
		if need -= n; need <= 0 {
			return at
		}
	}
	return 0
}
