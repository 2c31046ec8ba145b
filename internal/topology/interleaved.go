package topology

// Interleaved numbering of trees of rounds. In a cursor, at is the round in which
// the process sends next and by its distance to the first sender of every round.

func (r *rounds) children(process int32) Cursor {
	if process == 0 {
		return Cursor{}
	}
	u := &r.list[r.round(process)]
	return Cursor{at: u.ready, by: u.shift + process - u.first}
}

func (r *rounds) next(c *Cursor, procs int32) (int32, bool) {
	if int(c.at) >= len(r.list) {
		return 0, false
	}
	now := &r.list[c.at]
	child := now.first + c.by
	if child >= procs {
		return 0, false
	}
	c.at = now.next
	return child, true
}

func (r *rounds) parent(process int32) int32 {
	now := r.round(process)
	i := process - r.list[now].first // the parent is the i-th sender of the round
	if r.dense() {
		return i // in every step the process sends that has been ready longest
	}
	// The processes that send now were sent to a delay ago, or that and some steps.
	for t := int64(r.list[now].time) - r.delay; t >= 0; t -= r.step {
		u := r.atOrAfter(t)
		if int64(r.list[u].time) == t && r.list[u].shift <= i {
			return r.list[u].first + i - r.list[u].shift
		}
	}
	return 0
}
