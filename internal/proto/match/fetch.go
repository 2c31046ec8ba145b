package match

import "banyan/internal/prefetch"

// fetched bounds how many lanes and entries Fetch asks for.
const fetched = 8

// Fetch asks for what the next messages and receives need and changes nothing: the queues' own
// memory with stage 0 and, when that is there, what it points to with stage 1. A driver of many
// queues, of which few fit into a cache, calls it before (package prefetch).
func (q *Queues) Fetch(stage int) {
	if stage == 0 {
		prefetch.Value(q)
		return
	}
	prefetch.First(q.counts)
	prefetch.Slice(q.lanes.slab[:min(len(q.lanes.slab), fetched)])
	prefetch.Slice(q.entries.slab[:min(len(q.entries.slab), fetched)])
}
