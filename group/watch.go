package group

import (
	"context"
	"iter"
	"sync"
)

// kept is how many views a member keeps for those that watch it.
const kept = 64

// Change is a view, as [Member.Watch] gives it.
type Change struct {
	View View
	// Missed is how many views between this one and the one before weren't given, because the
	// program read too slowly. The View's Joined, Left and Died don't tell of them.
	Missed uint64
}

// Watch gives the view in force, and then each later one, until the member's end, the end of ctx,
// or until the program breaks out of the loop. Then [Member.Err] says whether the member has ended.
// Any number of goroutines may watch a member, each at its own speed; they take nothing from
// [Member.Views] and need not be closed. A member keeps the last 64 views: a program that falls
// behind further is told how many it has missed.
func (m *Member) Watch(ctx context.Context) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		next := m.recent.last()
		for first := true; ; first = false {
			v, more, ok := m.recent.wait(ctx, next)
			if !ok {
				return
			}
			c := Change{View: v, Missed: v.Number - next}
			if first {
				c.Missed = 0 // it begins there
			}
			if !yield(c) || !more {
				return
			}
			next = v.Number + 1
		}
	}
}

// recent are the last views of a member.
type recent struct {
	mu    sync.Mutex
	views []View        // numbers without a hole
	news  chan struct{} // closed with the next view, and at the end
	ended bool
}

func newRecent() *recent { return &recent{news: make(chan struct{})} }

func (r *recent) add(v View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.views = append(r.views, v); len(r.views) > kept {
		clear(r.views[:1]) // the garbage collector may have it
		r.views = r.views[1:]
	}
	close(r.news)
	r.news = make(chan struct{})
}

func (r *recent) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	close(r.news)
	r.news = make(chan struct{})
}

// last is the number of the last view.
func (r *recent) last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.views[len(r.views)-1].Number
}

// wait waits for the view of a number, or gives a later one if that isn't kept any more. more says
// whether another one may come.
func (r *recent) wait(ctx context.Context, number uint64) (v View, more, ok bool) {
	for {
		r.mu.Lock()
		news, ended := r.news, r.ended
		oldest, end := r.views[0].Number, r.views[len(r.views)-1].Number+1
		if at := max(number, oldest); at < end {
			v = r.views[at-oldest]
			r.mu.Unlock()
			return v, !ended || at+1 < end, ctx.Err() == nil
		}
		r.mu.Unlock()
		if ended {
			return v, false, false
		}
		select {
		case <-news:
		case <-ctx.Done():
			return v, false, false
		}
	}
}
