package engine

import "banyan/internal/proto/membership"

// views are the views that have come into force here, in order.
type views struct {
	list []*membership.View
	more chan struct{} // closed when there is another one
}

func (v *views) add(view *membership.View) {
	v.list = append(v.list, view)
	close(v.more)
	v.more = make(chan struct{})
}

// Views gives the views that have come into force here after the one with the given number, in
// order, and a channel that is closed when there is another one. The caller must not change them.
func (e *Engine) Views(after uint64) (views []*membership.View, more <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.views.list
	i := len(list)
	for i > 0 && list[i-1].Number > after {
		i--
	}
	return list[i:len(list):len(list)], e.views.more
}
