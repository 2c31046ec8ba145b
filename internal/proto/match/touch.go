package match

// touched bounds how many lanes and entries Touch looks at.
const touched = 8

// Touch reads what the next messages and receives need and changes nothing. A driver of many
// queues, of which few fit into a cache, calls it before: the processor fetches from memory at once
// what they would ask for one after the other. The sum means nothing; it has to be used, so that
// the reads aren't left out.
func (q *Queues) Touch() (sum uint64) {
	sum = q.stamp + uint64(q.counts.Posted) + uint64(q.lanes.freeLen)
	for i := 0; i < recentLanes; i += 64 / 4 {
		sum += uint64(q.lanes.recent[i])
	}
	for i := range min(len(q.lanes.slab), touched) {
		sum += uint64(q.lanes.slab[i].posted.head)
	}
	for i := range min(len(q.entries.slab), touched) {
		sum += q.entries.slab[i].stamp
	}
	return sum
}
