package replication

import (
	"sort"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// neighbourhood is a rank with its partners, the only ranks that its replicas exchange messages
// with. The machine of package replica keeps tables by rank and by process; with all ranks of a
// large job these wouldn't fit into memory. What happens to a rank that isn't a partner changes
// nothing but an entry of such a table. So the machine gets a layout of the neighbourhood, which
// has the same order of ranks and the same replicas, and behaves as in the whole job
// (TestNeighbourhoods).
type neighbourhood struct {
	ranks []proto.Rank // ascending, with the own one
	whole bool         // of all ranks: they have their own numbers
}

func newNeighbourhood(own proto.Rank, partners []proto.Rank, all int) *neighbourhood {
	at := sort.Search(len(partners), func(i int) bool { return partners[i] >= own })
	ranks := make([]proto.Rank, 0, len(partners)+1)
	ranks = append(append(append(ranks, partners[:at]...), own), partners[at:]...)
	return &neighbourhood{ranks, len(ranks) == all}
}

// localRank is a rank's number in the neighbourhood.
func (h *neighbourhood) localRank(r proto.Rank) proto.Rank {
	if h.whole {
		return r
	}
	low, high := 0, len(h.ranks)-1
	for low < high {
		if middle := (low + high) / 2; h.ranks[middle] < r {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return proto.Rank(low)
}

// layout is that of the neighbourhood, with so many replicas of each rank.
func (h *neighbourhood) layout(degree int) layout.Layout {
	return layout.Uniform(len(h.ranks), degree)
}

func (h *neighbourhood) proc(whole layout.Layout, local proto.Proc) proto.Proc {
	k := len(h.ranks)
	replica, rank := int(local)/k, h.ranks[int(local)%k]
	return proto.Proc(replica*whole.Ranks() + int(rank))
}

func (h *neighbourhood) local(whole layout.Layout, p proto.Proc) proto.Proc {
	n := proto.Rank(whole.Ranks())
	rank, first := proto.Rank(p), proto.Proc(0)
	for rank >= n { // a division takes longer, because replicas are few
		rank -= n
		first += proto.Proc(len(h.ranks))
	}
	return first + proto.Proc(h.localRank(rank))
}
