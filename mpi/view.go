package mpi

import (
	"context"
	"fmt"
	"iter"

	"banyan/internal/layout"
	"banyan/internal/proto/membership"
)

// View says which processes are in the job. All processes agree on it: the same Number means the
// same members everywhere. A view follows some time after deaths are noticed. Neither communication
// nor the replacement of a dead replica waits for it.
type View struct {
	Number  uint64 // from 1, without a gap
	Members []Member
	// Changes from the view before.
	Joined []Member
	Left   []Member
	Died   []Member
	// Silent members were given up because nothing was heard of them. They stop when they can be
	// reached again.
	Silent []Member
}

// Member is a process of the job.
type Member struct {
	Rank        int // in World
	Replica     int // of the rank, from 0
	Incarnation int // of the process, from 0
}

func (m Member) String() string { return fmt.Sprintf("rank %d replica %d", m.Rank, m.Replica) }

// View is the view of the job in force at this process, whatever the communicator.
func (c *Comm) View() View {
	e := c.c.Engine()
	views, _ := e.Views(0)
	return newView(e.Layout(), views[len(views)-1])
}

// Views goes through the views of the job, from the first on, in order and without losing any, and
// waits for the next one until ctx ends. Replicas of a rank may see a view at different points of
// the program, so what they send must not depend on it.
func (c *Comm) Views(ctx context.Context) iter.Seq[View] {
	return func(yield func(View) bool) {
		e, after := c.c.Engine(), uint64(0)
		for {
			views, more := e.Views(after)
			for _, v := range views {
				if ctx.Err() != nil || !yield(newView(e.Layout(), v)) {
					return
				}
				after = v.Number
			}
			select {
			case <-more:
			case <-ctx.Done():
				return
			}
		}
	}
}

// newView is a view in terms of ranks and replicas.
func newView(l layout.Layout, v *membership.View) View {
	member := func(m membership.Member) Member {
		return Member{Rank: int(l.Rank(m.Proc)), Replica: l.Replica(m.Proc), Incarnation: int(m.Incarnation)}
	}
	w := View{Number: v.Number}
	for _, m := range v.Members {
		w.Members = append(w.Members, member(m))
	}
	for _, m := range v.Joined {
		w.Joined = append(w.Joined, member(m))
	}
	for _, g := range v.Gone {
		switch x := member(g.Member); g.Why {
		case membership.Left:
			w.Left = append(w.Left, x)
		case membership.Died:
			w.Died = append(w.Died, x)
		default:
			w.Silent = append(w.Silent, x)
		}
	}
	return w
}
