package comm

import "banyan/internal/runtime/process"

// pipelined is how many segments of one Bcast are under way at a time.
const pipelined = 8

// correctedBcast cuts the data into segments that follow each other down the tree
// (internal/proto/broadcast). All segments are full but the last, which never is; it may be empty.
// So members that disagree about the size notice it, even at a multiple of the segment size.
//
// Where members share cores the root sends to all (oversubscribed.go). A tree that the user has
// named is always taken.
//
//	⌈log2 n⌉ · (α + m β), or, with more segments (k) than members, (1 + n/k) (k α + m β)
func (p *Plan) correctedBcast(data []byte, root int) {
	c := p.comm
	p.s.Lane = &c.plans.stream
	segments := len(data)/process.SegmentLimit + 1
	shape := process.Shallow
	switch {
	case c.eng.NamesTree():
		shape = process.Named
	case c.oversubscribed:
		shape = process.Star
	case segments > c.Size():
		shape = process.Chain
	}
	for i := range segments {
		p.s.WaitFor(i - pipelined + 1)
		from := i * process.SegmentLimit
		p.s.Broadcast(root, shape, data[from:min(from+process.SegmentLimit, len(data))])
	}
}
