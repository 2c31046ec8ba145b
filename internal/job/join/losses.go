package join

import (
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// losses are the ranks of a replicated job whose replicas are all taken for dead here, although the
// program goes on after a loss. Replicas would learn of such a loss at different places, so the job
// ends. But on a side without a majority the silent may live, and this process is told so, or
// stops: whether a rank is lost is said by a view.
type losses struct {
	ranks []proto.Rank
	view  *membership.View // the last one; nil: the first is in force, which has all
}

// certain is a rank of which the view in force has no process.
func (l *losses) certain(lay layout.Layout) (rank proto.Rank, is bool) {
	if l.view == nil {
		return 0, false
	}
ranks:
	for _, r := range l.ranks {
		for _, m := range l.view.Members {
			if lay.Rank(m.Proc) == r {
				continue ranks
			}
		}
		return r, true
	}
	return 0, false
}
