package process

import (
	"math/rand/v2"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

var (
	_ transport.Preserver = (*node)(nil)
	_ transport.Preserver = (*healingNode)(nil)
)

// keeps is memory of the tests' networks, in which processes keep records for others.
type keeps struct {
	all   map[[2]any]*keep // by who keeps the records, and for whom
	found int              // records that were there for the last look
	blind bool             // a mistake: nobody finds anything
}

func newKeeps() *keeps { return &keeps{all: map[[2]any]*keep{}} }

type keep struct {
	records []keptRecord
	closed  bool
}

type keptRecord struct {
	number uint64
	record []byte
}

// keepRoom is how many records have room: little, so that it happens that there is none.
const keepRoom = 5

func (m *keeps) of(from, to any) *keep {
	k := m.all[[2]any{from, to}]
	if k == nil {
		k = &keep{}
		m.all[[2]any{from, to}] = k
	}
	return k
}

func (m *keeps) read(from, to any, last bool, visit func(number uint64, record []byte)) {
	k := m.of(from, to)
	k.closed = k.closed || last
	if m.blind {
		return
	}
	for _, r := range k.records {
		m.found++
		visit(r.number, r.record)
	}
}

// put keeps a record, but now and then there is no room.
func (k *keep) put(rng *rand.Rand, number uint64, record []byte) bool {
	if k.closed || len(k.records) == keepRoom || rng.IntN(20) == 0 {
		return false
	}
	k.records = append(k.records, keptRecord{number, slices.Clone(record)})
	return true
}

func (k *keep) release(number uint64) {
	k.records = slices.DeleteFunc(k.records, func(r keptRecord) bool { return r.number <= number })
}

func (n *node) Keep(to proto.Proc, number uint64, record []byte) bool {
	return !n.dead && n.w.keeps.of(n, n.w.nodes[to]).put(n.w.rng, number, record)
}

func (n *node) Release(to proto.Proc, number uint64) {
	n.w.keeps.of(n, n.w.nodes[to]).release(number)
}

func (n *node) Kept(from proto.Proc, last bool, visit func(number uint64, record []byte)) {
	n.w.keeps.read(n.w.nodes[from], n, last, visit)
}

func (n *healingNode) other(q proto.Proc) *healingNode { return n.w.incarnationOf(q, n.admitted[q]) }

func (n *healingNode) Keep(to proto.Proc, number uint64, record []byte) bool {
	return !n.dead && n.w.keeps.of(n, n.other(to)).put(n.w.rng, number, record)
}

func (n *healingNode) Release(to proto.Proc, number uint64) {
	n.w.keeps.of(n, n.other(to)).release(number)
}

func (n *healingNode) Kept(from proto.Proc, last bool, visit func(number uint64, record []byte)) {
	n.w.keeps.read(n.other(from), n, last, visit)
}

// TestKept: substitutes find what dead leaders have kept for them, and without that they do
// something else.
func TestKept(t *testing.T) {
	for _, blind := range []bool{false, true} {
		caught, found := "", 0
		for seed := uint64(1); seed <= 300 && caught == ""; seed++ {
			caught = strictly(t, func(t testing.TB) string {
				var keeps *keeps
				runGossip(t, seed, Config{Layout: layout.Uniform(2, 2)}, 12, 2, func(w *testJob) {
					keeps = w.keeps
					keeps.blind = blind
				})
				found += keeps.found
				return ""
			})
		}
		if blind != (caught != "") || !blind && found == 0 {
			t.Errorf("blind: %t; caught: %q; found %d records", blind, caught, found)
		}
	}
}
