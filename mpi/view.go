package mpi

import (
	"context"
	"fmt"
	"iter"

	"banyan/internal/proto/membership"
)

// View says who is in the job, as all its processes agree: the same Number means the
// same members everywhere. It comes some time after deaths are noticed; neither
// communication nor the replacement of a dead replica waits for it.
type View struct {
	Number  uint64 // from 1, without a hole
	Members []Member
	// Changes from the view before.
	Joined []Member
	Left   []Member
	Died   []Member
	// Silent members haven't been heard of, and were given up. They stop when
	// they can be reached again.
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
	views, _ := c.c.Engine().Views(0)
	return c.viewOf(views[len(views)-1])
}

// Views goes through the views of the job, from the first on, in order and without
// losing any, and waits for the next until ctx ends. Replicas of a rank may
// see a view at different points of the program: what they send must not
// depend on it.
func (c *Comm) Views(ctx context.Context) iter.Seq[View] {
	return func(yield func(View) bool) {
		after := uint64(0)
		for {
			views, more := c.c.Engine().Views(after)
			for _, v := range views {
				if ctx.Err() != nil || !yield(c.viewOf(v)) {
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

func (c *Comm) viewOf(v *membership.View) View {
	ranks, _ := c.c.Engine().Layout()
	member := func(m membership.Member) Member {
		return Member{Rank: int(m.Proc) % ranks, Replica: int(m.Proc) / ranks, Incarnation: int(m.Incarnation)}
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
