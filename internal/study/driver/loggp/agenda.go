package loggp

// agenda says which of a worker's nodes act in which window. It is a wheel with a list of nodes for
// each of the next windows, and one list for what is later. A node that was put off, or called
// sooner, stays in its old list, too: what counts is Network.windows.
type agenda struct {
	lists   [wheel][]int32
	later   []int32
	soonest int64 // no node of later acts before this window
	window  int64 // the present one
	filed   int   // entries in lists
}

// wheel is how many windows have a list: a power of two.
const wheel = 1 << 12

// at is the list of a window.
func (a *agenda) at(window int64) *[]int32 { return &a.lists[window&(wheel-1)] }

// file notes that a node acts in a window after the present one, or, while that is entered, in it.
func (a *agenda) file(node int32, window int64) {
	if window-a.window >= wheel {
		a.later = append(a.later, node)
		a.soonest = min(a.soonest, window)
		return
	}
	list := a.at(window)
	*list = append(*list, node)
	a.filed++
}

// next is the first window after the present one in which a node may act; noWindow if there is
// none.
func (a *agenda) next() int64 {
	if a.filed == 0 {
		return a.soonest
	}
	w := a.window + 1
	for len(*a.at(w)) == 0 {
		w++
	}
	return min(w, a.soonest)
}

// enter makes a window the present one and takes its list. The caller gives that back to done.
func (a *agenda) enter(window int64, windowOf func(node int32) int64) []int32 {
	a.window = window
	if window >= a.soonest-wheel/2 {
		later := a.later
		a.later, a.soonest = later[:0], noWindow
		for _, node := range later {
			if w := windowOf(node); w != noWindow && w >= window { // else it has acted since
				a.file(node, w)
			}
		}
	}
	slot := a.at(window)
	list := *slot
	*slot = nil
	a.filed -= len(list)
	return list
}

// done gives the list of the present window back, for further use.
func (a *agenda) done(list []int32) {
	if slot := a.at(a.window); *slot == nil {
		*slot = list[:0]
	}
}
