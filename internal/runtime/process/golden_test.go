package process

import (
	"flag"
	"fmt"
	"hash/crc64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

var updateFlag = flag.Bool("update", false, "write the golden files anew")

var crcTable = crc64.MakeTable(crc64.ECMA)

// frameSums counts the frames of each kind and sums up their bytes, in the order of
// sending.
type frameSums struct {
	count map[wire.Kind]int
	sum   map[wire.Kind]uint64
}

func newFrameSums() *frameSums {
	return &frameSums{count: map[wire.Kind]int{}, sum: map[wire.Kind]uint64{}}
}

func (s *frameSums) add(h *wire.Header, payload []byte) {
	if s == nil {
		return
	}
	var b [wire.HeaderSize]byte
	wire.EncodeHeader(b[:], h)
	s.count[h.Kind]++
	s.sum[h.Kind] = crc64.Update(crc64.Update(s.sum[h.Kind], crcTable, b[:]), crcTable, payload)
}

func (s *frameSums) String() string {
	var lines []string
	for k := range s.count {
		lines = append(lines, fmt.Sprintf("%-18v %6d %016x\n", k, s.count[k], s.sum[k]))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// The bytes of every frame that processes send in some seeded runs are those in
// testdata/frames.golden. A change there is a change of the wire format, or of what a
// process sends when.
func TestFramesAreTheSameBytes(t *testing.T) {
	sums := newFrameSums()
	for seed := uint64(1); seed <= 4; seed++ {
		for _, c := range []struct {
			layout  layout.Layout
			mirror  bool
			crashes int
		}{{layout.Uniform(4, 1), false, 0}, {layout.Uniform(3, 2), false, 3}, {layout.Partial([]int{1, 3, 2}), true, 3}} {
			cfg := Config{Layout: c.layout, Mirror: c.mirror, Period: 100e6, Timeout: 1e9, skewLimit: 6000}
			w := newTestJobOf(t, seed, cfg, func(r proto.Rank, k int) program { return newExchange(int(r), c.layout.Ranks(), 4) })
			w.sent = sums
			w.run(c.crashes, func() proto.Proc { return w.expendable() })
		}

		w := newTestJob(t, seed, layout.Uniform(8, 1), func(r proto.Rank, _ int) program {
			return &casts{rank: int(r), ranks: 8, total: 40, roots: []int{1, 0, 2}}
		})
		w.sent = sums
		w.run(3, func() proto.Proc { return proto.Proc(1 + w.rng.IntN(4)) })

		h := newVerifiedHealingJob(t, seed, layout.Uniform(2, 3), false, func(r proto.Rank) *courier {
			return &courier{rank: int(r), ranks: 2, rounds: 30, setUp: 2, value: uint64(r)}
		}, func(*healingNode, Corruption) {})
		h.sent = sums
		h.run(5, 200)
	}

	// Frames that those runs lack.
	w := newTestJob(t, 1, layout.Uniform(4, 1), func(proto.Rank, int) program { return nil })
	w.sent = sums
	p := w.nodes[0].p
	for now := proto.Time(1e9); now < 5e9; now += 100e6 { // one after another is silent for too long
		p.At(now)
		p.Tick()
	}
	w.nodes[2].p.Abort(7)
	lost := w.nodes[3].p
	lost.Send(2, 1, 5, make([]byte, EagerLimit+1))
	id := w.links[[2]proto.Proc{3, 1}]
	offer := id[len(id)-1].header
	lost.Evidence(1, 0)
	lost.pulled(1, &wire.Header{Kind: wire.KindPull, ID: offer.ID, Offset: 1 << 33, Total: 10})

	file := filepath.Join("testdata", "frames.golden")
	got := sums.String()
	if *updateFlag {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
