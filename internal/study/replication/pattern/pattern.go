package pattern

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/study/field"
)

// OpKind says what an Op does.
type OpKind uint8

// Kinds of operations.
const (
	// Compute takes Share of the step's computation.
	Compute OpKind = iota + 1
	// Receive starts receiving a message from Peer, perhaps proto.AnyRank.
	Receive
	// Send starts sending a message to Peer.
	Send
	// Wait waits until at most Bytes of the rank's sends and receives are under way.
	Wait
)

// Op is one thing that a rank does.
type Op struct {
	Kind       OpKind
	Collective bool // in the context of collectives
	Peer       proto.Rank
	Tag        int32
	Bytes      int64
	Share      float64 // of the step's computation, 0…1
}

// Spec describes a pattern.
type Spec struct {
	Kind  string
	Ranks int
	Bytes int64 // of a message; 0 is possible
	Any   bool  // halos receive from any source
	// Levels are multigrid's grids, Blocks a sweep's blocks of planes.
	Levels, Blocks int
}

// Bounds of a Spec.
const (
	MaxRanks = 1 << 20
	MaxBytes = 1 << 30
)

// Pattern is a program's communication.
type Pattern struct {
	Spec
	step func(rank int, ops *ops)
}

// kinds are the patterns by name.
var kinds = []struct {
	name string
	make func(s *Spec) (func(rank int, ops *ops), error)
}{
	{"halo2d", halo2D}, {"halo3d", halo3D}, {"stencil-cg", stencilCG}, {"cg", cg}, {"multigrid", multigrid},
	{"fft", fft}, {"pencil", pencil}, {"sweep", sweep}, {"gather", gather},
}

// Kinds are the names of all patterns.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// New makes a pattern. Its errors are about the fields pattern, ranks, bytes, levels, blocks and
// any_source.
func New(s Spec) (*Pattern, error) {
	switch {
	case s.Ranks < 2 || s.Ranks > MaxRanks:
		return nil, field.Errorf("ranks", "%d: want 2 to %d", s.Ranks, MaxRanks)
	case s.Bytes < 0 || s.Bytes > MaxBytes:
		return nil, field.Errorf("bytes", "%d: want 0 to %d", s.Bytes, MaxBytes)
	}
	i := slices.IndexFunc(kinds, func(k struct {
		name string
		make func(s *Spec) (func(rank int, ops *ops), error)
	}) bool {
		return k.name == s.Kind
	})
	if i < 0 {
		return nil, field.Errorf("pattern", "%q: want %s", s.Kind, strings.Join(Kinds(), ", "))
	}
	step, err := kinds[i].make(&s)
	if err != nil {
		return nil, err
	}
	if s.Any && !slices.Contains([]string{"halo2d", "halo3d", "stencil-cg", "multigrid", "gather"}, s.Kind) {
		return nil, field.Errorf("any_source", "%s has no halo to be received from any source", s.Kind)
	}
	return &Pattern{Spec: s, step: step}, nil
}

// Step appends what a rank does in a step.
func (p *Pattern) Step(rank proto.Rank, list []Op) []Op {
	o := ops{list: list}
	p.step(int(rank), &o)
	return o.list
}

// AnySource says whether some receive names no source.
func (p *Pattern) AnySource() bool { return p.Any || p.Kind == "gather" }

// Partners are by rank the ranks that it sends to or receives from, in ascending order. The error
// is about the field ranks: there would be more than limit pairs.
func (p *Pattern) Partners(limit int) ([][]proto.Rank, error) {
	all := make([][]proto.Rank, p.Ranks)
	pairs := 0
	var list []Op
	for r := range all {
		list = p.Step(proto.Rank(r), list[:0])
		for i := range list {
			if o := &list[i]; o.Kind == Send {
				pairs += 2
				all[r] = append(all[r], o.Peer)
				all[o.Peer] = append(all[o.Peer], proto.Rank(r))
			}
		}
		if pairs > limit && r < p.Ranks-1 {
			if pairs = compact(all); pairs > limit {
				return nil, field.Wrap("ranks", fmt.Errorf("%d: the ranks of %s have too many partners to be simulated, more than %d in all", p.Ranks, p.Kind, limit))
			}
		}
	}
	compact(all)
	return all, nil
}

// compact sorts lists, removes what is there twice, and says how much is left.
func compact(lists [][]proto.Rank) (n int) {
	for i := range lists {
		slices.Sort(lists[i])
		lists[i] = slices.Compact(lists[i])
		n += len(lists[i])
	}
	return n
}

// ops are the operations of a step, as they are made.
type ops struct{ list []Op }

func (o *ops) compute(share float64) { o.list = append(o.list, Op{Kind: Compute, Share: share}) }
func (o *ops) wait(left int)         { o.list = append(o.list, Op{Kind: Wait, Bytes: int64(left)}) }

func (o *ops) send(to int, tag int32, bytes int64) {
	o.list = append(o.list, Op{Kind: Send, Peer: proto.Rank(to), Tag: tag, Bytes: bytes})
}

func (o *ops) receive(from int, tag int32, bytes int64) {
	o.list = append(o.list, Op{Kind: Receive, Peer: proto.Rank(from), Tag: tag, Bytes: bytes})
}
