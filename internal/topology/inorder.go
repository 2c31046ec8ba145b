package topology

// In-order numbering of trees of rounds. Let C(h) be the size of the tree that
// grows within a time h, its horizon: the number of the first process that is
// sent to at h or later. The paper's linking T(h) = T(h-step) • T(h-delay) says
// that a process with horizon h sends to children with the horizons h-delay,
// h-delay-step, …, and that what grows after its first child has the size
// C(h-step). Numbering the child sent to last first, so that each one's largest
// subtree is its farthest, the children of r are
//
//	r + C(m), m = h-step, h-2·step, … > -step,
//
// and that child has the horizon m + step - delay. The tree of P processes is
// the smallest that holds P, without the positions from P on; C(h) = 2^h gives
// the binomial tree as usually implemented.
//
// In a cursor, by is the process, at the next child's m.

// size is C(h).
func (r *rounds) size(h int64, beyond int32) int32 {
	if h <= 0 {
		return 1
	}
	if i := r.atOrAfter(h); int(i) < len(r.list) {
		return r.list[i].first
	}
	return beyond
}

// inOrderDescend walks from the root to a process. It returns its parent (-1 for
// the root) and its horizon.
func (r *rounds) inOrderDescend(process int32) (parent int32, horizon int64) {
	parent, horizon = -1, int64(r.end)
	for at := int32(0); at != process; {
		m := horizon - r.step
		for at+r.size(m, process+1) > process {
			m -= r.step
		}
		parent, horizon = at, m+r.step-r.delay
		at += r.size(m, process+1)
	}
	return parent, horizon
}

func (r *rounds) inOrderChildren(process, procs int32) Cursor {
	_, h := r.inOrderDescend(process)
	m := h - r.step
	for m > -r.step && procs-process <= r.size(m, procs) {
		m -= r.step // the child is beyond the end
	}
	return Cursor{at: int32(max(m, -r.step)), by: process}
}

func (r *rounds) inOrderNext(c *Cursor, procs int32) (int32, bool) {
	m := int64(c.at)
	if m <= -r.step {
		return 0, false
	}
	c.at = int32(m - r.step)
	return c.by + r.size(m, procs), true
}

func (r *rounds) inOrderParent(process int32) int32 {
	parent, _ := r.inOrderDescend(process)
	return parent
}
