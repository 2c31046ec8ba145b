package launcher

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"banyan/internal/job/agent"
)

// positions says how far the output of each rank has been shown, and has agents keep what wasn't:
// a launcher that takes over goes on there.
type positions struct {
	mu      sync.Mutex
	streams [][2]position // by rank
	tails   tails
}

// position is how far a stream of a rank was shown, and the streams of its replicas.
type position struct {
	shown int64
	kept  []*kept
}

type kept struct {
	of     *process
	stream agent.Kept
	base   int64  // where it begins in the rank's
	at     int64  // how far it was read, in the rank's
	tail   []byte // of what was read, or taken over from a donor, what wasn't shown
}

func newPositions(ranks int, tail bool) *positions {
	return &positions{streams: make([][2]position, ranks), tails: tails{on: tail}}
}

func index(stderr bool) int {
	if stderr {
		return 1
	}
	return 0
}

// begin is where the launcher's part of a rank's stream begins. It is called before anything is
// shown.
func (p *positions) begin(rank int, stderr bool) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.streams[rank][index(stderr)].shown
}

// shown notes that n bytes of a rank's stream are shown for good.
func (p *positions) shown(rank int, stderr bool, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.streams[rank][index(stderr)]
	s.shown = max(s.shown, n)
	for _, k := range s.kept {
		k.release(s.shown)
		p.tails.trim(k, s.shown)
	}
}

// spare releases what the agent of a host keeps and the agent of another one, too, or the
// launcher's state.
func (p *positions) spare(host int, stays func(host int) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for rank := range p.streams {
		for i := range p.streams[rank] {
			s := &p.streams[rank][i]
			for _, k := range s.kept {
				if k.of.host == host && slices.ContainsFunc(s.kept, func(x *kept) bool { return stays(x.of.host) && x.covers(s.shown, k.at) }) {
					k.release(k.at)
				}
			}
		}
	}
}

// covers says whether this stream's agent keeps the bytes between two places of the rank's stream,
// or its slot in the state has what was before.
func (k *kept) covers(from, to int64) bool {
	return k.at >= to && min(k.base, k.at-int64(len(k.tail))) <= from
}

func (k *kept) release(shown int64) {
	if shown > k.base {
		k.stream.Release(uint64(shown - k.base))
	}
}

// add has the stream of a replica kept as far as it wasn't shown. It is read through what add
// returns.
func (p *positions) add(rank int, x *process, stderr bool, stream agent.Kept) io.Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.streams[rank][index(stderr)]
	i := index(stderr)
	k := &kept{of: x, stream: stream, base: x.base[i], at: x.start[i]}
	if x.start[i] == x.base[i] {
		k.tail = bytes.Clone(x.tails[i])
		p.tails.size += len(k.tail)
	}
	s.kept = append(s.kept, k)
	k.release(s.shown)
	p.tails.trim(k, s.shown)
	return &tailing{p, s, k, stream}
}

// pass reads what was shown of a replica's stream before this launcher took over, and returns the
// rest. It returns false if what follows that isn't kept.
func pass(x *process, stderr bool, from io.Reader) (io.Reader, bool) {
	i := index(stderr)
	left := x.skip[i]
	if left > 0 {
		io.CopyN(io.Discard, from, left) // if it ends before, it is that far behind
	}
	if tail := x.tails[i]; left < 0 && x.start[i] == x.base[i] && -left <= int64(len(tail)) {
		return io.MultiReader(bytes.NewReader(tail[int64(len(tail))+left:]), from), true
	}
	return from, left >= 0
}
