package console

import (
	"fmt"
	"math"
	"slices"

	"banyan/internal/job/launcher/output"
	"banyan/internal/varint"
)

// Launcher is the source of what the launcher itself says; other sources are ranks.
const Launcher = output.Launcher

const (
	// maxSources bounds the sources whose positions are read.
	maxSources = 1 << 20
	// maxSource bounds a rank.
	maxSource = 1 << 24
)

// positions are how much of each source's stream was shown, by source. A byte of output is known by
// its source, its stream and its offset in that: so one that a launcher shows again, because the
// one before was lost, is left out.
type positions map[int]int64

// set notes that a source's stream was shown up to an offset.
func (p positions) set(source int, to int64) { p[source] = max(p[source], to) }

// sources are those with a position, in order.
func (p positions) sources() []int {
	all := make([]int, 0, len(p))
	for s := range p {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// append appends the positions of some of the sources.
func (p positions) append(b []byte, sources []int) []byte {
	b = varint.Append(b, uint64(len(sources)))
	for _, s := range sources {
		b = varint.Append(b, uint64(s-Launcher), uint64(p[s]))
	}
	return b
}

// read adds what append wrote.
func (p positions) read(r *varint.Reader) error {
	for range r.Count() {
		source, at := r.Uint(), r.Uint()
		if source > maxSource || at > math.MaxInt64 || len(p) >= maxSources {
			r.Fail()
			break
		}
		p.set(int(source)+Launcher, int64(at))
	}
	if r.Failed() {
		return fmt.Errorf("%w: positions", ErrCorrupt)
	}
	return nil
}

// positionsEach is how many positions a frame has.
const positionsEach = 2000

// frames are what a console sends before it attaches, to say what it has of a stream.
func (p positions) frames(s Stream) (all []Frame) {
	for some := range slices.Chunk(p.sources(), positionsEach) {
		all = append(all, Frame{Kind: Shown, Stream: s, Data: p.append(nil, some)})
	}
	return all
}
