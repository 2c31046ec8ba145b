package launcher

import (
	"io"
	"sync"

	"banyan/internal/job/agent"
)

// positions says how far the output of each rank has been shown, and has agents keep what wasn't:
// a launcher that takes over goes on there.
type positions struct {
	mu      sync.Mutex
	streams [][2]position // by rank
}

// position is how far a stream of a rank was shown, and the streams of its replicas.
type position struct {
	shown int64
	kept  []kept
}

type kept struct {
	stream agent.Kept
	base   int64 // where it begins in the rank's
}

func newPositions(ranks int) *positions { return &positions{streams: make([][2]position, ranks)} }

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
	}
}

func (k kept) release(shown int64) {
	if shown > k.base {
		k.stream.Release(uint64(shown - k.base))
	}
}

// add has the stream of a replica kept as far as it wasn't shown.
func (p *positions) add(rank int, x *process, stderr bool, stream agent.Kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.streams[rank][index(stderr)]
	k := kept{stream, x.base[index(stderr)]}
	s.kept = append(s.kept, k)
	k.release(s.shown)
}

// pass reads what was shown of a replica's stream before this launcher took over. It returns false
// if what follows that isn't kept.
func pass(x *process, stderr bool, from io.Reader) bool {
	left := x.skip[index(stderr)]
	if left > 0 {
		io.CopyN(io.Discard, from, left) // if it ends before, it is that far behind
	}
	return left >= 0
}
