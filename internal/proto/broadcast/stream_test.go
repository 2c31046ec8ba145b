package broadcast

import (
	"testing"

	"banyan/internal/proto"
)

func TestStreamUndisturbed(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 5, 8, 13, 64} {
		w := newStreamWorld(StreamConfig{Size: size, PullDelay: 1 << 40}, uint64(size))
		for range 500 {
			w.add(0, 8)
		}
		w.run()
		w.check()
		if w.problem != "" {
			t.Fatalf("size %d: %s", size, w.problem)
		}
		if w.sent[FrameTree] > 500*(size-1) || w.sent[FrameCorrection] > 2*500*size {
			t.Errorf("size %d: %d frames along the tree, %d corrections", size, w.sent[FrameTree], w.sent[FrameCorrection])
		}
		// Room is asked for once every half window, and answered.
		if most := 2 * (size - 1) * 500 / (DefaultWindow / 2); w.sent[FrameReport] > most {
			t.Errorf("size %d: %d frames for room, expected at most %d", size, w.sent[FrameReport], most)
		}
		if n := w.sent[FramePull] + w.sent[FrameMissing] + w.sent[FrameOffer]; n != 0 {
			t.Errorf("size %d: %d frames of recovery", size, n)
		}
	}
}

// The knowledge of what is stable travels with the frames, so roots that take
// turns need not all ask for themselves.
func TestStreamRootsTakeTurns(t *testing.T) {
	const size, count = 16, 500
	w := newStreamWorld(StreamConfig{Size: size, PullDelay: 1 << 40}, 1)
	for i := range count {
		w.add(i%size, 8)
	}
	w.run()
	w.check()
	if w.problem != "" {
		t.Fatal(w.problem)
	}
	if most := size * count / 2; w.sent[FrameReport] > most {
		t.Errorf("%d frames for room, expected at most %d", w.sent[FrameReport], most)
	}
}

// randomStreamWorld draws a world with deaths before and during its broadcasts.
func randomStreamWorld(seed uint64) *streamWorld {
	sizes := []int{2, 3, 4, 5, 7, 8, 12, 16, 33, 64}
	w := newStreamWorld(StreamConfig{Size: 1}, seed)
	rng := w.rng
	size := sizes[rng.IntN(len(sizes))]
	if size > 16 && rng.IntN(4) > 0 {
		size = 6
	}
	cfg := StreamConfig{
		Size: size, Window: 2 + rng.IntN(7), OfferAbove: 16,
		Distance: 1 + rng.IntN(2), PullDelay: proto.Time(rng.IntN(100)),
	}
	w = newStreamWorld(cfg, seed)
	w.rng, w.ahead, w.slow = rng, 1+rng.IntN(3*cfg.Window), rng.IntN(1+size/2)
	if rng.IntN(2) == 0 {
		w.ahead = 1
	}
	roots := 1 + rng.IntN(size)
	for range 10 + rng.IntN(40) {
		w.add(rng.IntN(roots), []int{0, 8, 16, 17, 40}[rng.IntN(5)])
	}
	for range rng.IntN(size) {
		m := w.members[rng.IntN(size)]
		if rng.IntN(3) == 0 {
			w.kill(m)
		} else {
			m.budget = rng.IntN(1 + rng.IntN(200))
		}
	}
	return w
}

func TestStreamRandomDeaths(t *testing.T) {
	seeds := uint64(600)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		w := randomStreamWorld(seed)
		w.run()
		w.check()
		if w.problem != "" {
			t.Fatalf("seed %d, size %d: %s", seed, w.cfg.Size, w.problem)
		}
	}
}
