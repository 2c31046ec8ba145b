package status

// circle finds ranks of which each waits for the next and the last for the first: no message that
// could end any of these waits will ever be sent, unless a receive that was posted before can take
// one. A rank waits if all of its live processes do.
func circle(slots []Slot, ranks int) []int {
	const unknown = NoRank - 1
	next := make([]int, ranks)
	for i := range next {
		next[i] = unknown
	}
	for i := range slots {
		s := &slots[i]
		if !alive(s.State) || s.Rank < 0 || s.Rank >= ranks {
			continue
		}
		to := NoRank
		if s.Counters != nil && s.Counters.Waits != "" {
			to = s.Counters.WaitsFor
		}
		if next[s.Rank] == unknown {
			next[s.Rank] = to
		} else if next[s.Rank] != to {
			next[s.Rank] = NoRank
		}
	}
	seen := make([]int, ranks) // by which walk, from 1 on
	for from := range next {
		at := from
		for at >= 0 && at < ranks && seen[at] == 0 {
			seen[at], at = from+1, next[at]
		}
		if at < 0 || at >= ranks || seen[at] != from+1 {
			continue
		}
		all := []int{at}
		for r := next[at]; r != at; r = next[r] {
			all = append(all, r)
		}
		if len(all) > 1 {
			return all
		}
	}
	return nil
}
