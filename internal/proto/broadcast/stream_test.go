package broadcast

import (
	"testing"

	"banyan/internal/proto"
	"banyan/internal/queue"
	"banyan/internal/testing/explore"
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
		if w.sent[FrameTree] > 500*(size-1) || w.sent[FrameCorrection] > DefaultDistance*500*size {
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

// The knowledge of what is stable travels with the frames. So roots that take turns need not
// each ask for it.
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
		Distance: 1 + rng.IntN(2), PullDelay: proto.Time(rng.IntN(100)), CorrectAfter: proto.Time(rng.IntN(2) * rng.IntN(100)),
	}
	w = newStreamWorld(cfg, seed)
	w.rng, w.ahead, w.slow = rng, 1+rng.IntN(8*cfg.Window), rng.IntN(1+size/2)
	w.bare, w.shaped, w.chatty = rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
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
	seeds := uint64(200)
	if explore.Long() {
		seeds = 6000
	} else if testing.Short() {
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

// TestStreamCanaries puts known bugs in, one at a time. Runs with random deaths must find each.
func TestStreamCanaries(t *testing.T) {
	canaries := map[string]func(*streamWorld){
		"no pull":    func(w *streamWorld) { w.lose = func(f Frame) bool { return f.Kind == FramePull } },
		"no denials": func(w *streamWorld) { w.lose = func(f Frame) bool { return f.Kind == FrameMissing } },
		"no answers for room": func(w *streamWorld) {
			w.lose = func(f Frame) bool { return f.Kind == FrameReport && f.Number%2 == 1 }
		},
		"payloads forgotten on completion": func(w *streamWorld) {
			w.sabotage = func(m *streamMember) {
				for i := range m.slots {
					if sl := &m.slots[i]; sl.done && m.Idle() {
						sl.state = failed
					}
				}
			}
		},
	}
	for name, put := range canaries {
		found := false
		for seed := uint64(0); seed < 300 && !found; seed++ {
			w := randomStreamWorld(seed)
			put(w)
			w.run()
			w.check()
			found = w.problem != ""
		}
		if !found {
			t.Errorf("%s: 300 random schedules didn't show it", name)
		}
	}
}

// A stopped member holds up the root, but only once the window is full, and only until its end
// is known.
func TestStreamBackPressure(t *testing.T) {
	const size, window, count, stopped = 5, 8, 100, 3
	for name, release := range map[string]func(*streamWorld){
		"goes on": func(w *streamWorld) { w.members[stopped].stopped = false },
		"dies":    func(w *streamWorld) { w.kill(w.members[stopped]) },
		"leaves": func(w *streamWorld) {
			w.members[stopped].dead = true
			for _, m := range w.members {
				w.step(m, func() { m.Left(w.now, stopped, &m.out) })
			}
		},
	} {
		w := newStreamWorld(StreamConfig{Size: size, Window: window, PullDelay: 10}, 3)
		for range count {
			w.add(0, 8)
		}
		w.members[stopped].stopped = true
		w.run()
		if got := w.members[0].started; got != window {
			t.Errorf("%s: the root has started %d with a member stopped, want %d", name, got, window)
		}
		release(w)
		w.run()
		w.check()
		if w.problem != "" {
			t.Errorf("%s: %s", name, w.problem)
		}
		if got := w.members[0].started; got != count {
			t.Errorf("%s: the root has started %d, want all %d", name, got, count)
		}
	}
}

// A program may have any number of broadcasts outstanding.
func TestStreamManyOutstanding(t *testing.T) {
	w := newStreamWorld(StreamConfig{Size: 3, Window: 4, PullDelay: 10}, 5)
	w.ahead = 1000
	for range 60 {
		w.add(0, 8)
	}
	for _, m := range w.members[1:] {
		for w.start(m) {
		}
		if m.started != 60 {
			t.Errorf("member %d could start %d", m.self, m.started)
		}
	}
	w.kill(w.members[0])
	w.run()
	w.check()
	if w.problem != "" {
		t.Error(w.problem)
	}
}

func TestStreamIgnoresNonsense(t *testing.T) {
	var out StreamActions
	s := NewStream(StreamConfig{Self: 1, Size: 3, Window: 4})
	payload := []byte{1}
	for _, f := range []Frame{
		{Kind: FrameTree, Number: 0},
		{Kind: FrameTree, Number: 100},
		{Kind: FrameTree, Number: 1, Root: 3},
		{Kind: FrameTree, Number: 1, Root: -1},
		{Kind: FramePull, Number: 1},
		{Kind: FrameMissing, Number: 1},
		{Kind: FrameReport, Number: 5, Root: 2},
		{Kind: FrameReport + 1, Number: 1},
		{Kind: FrameTree, Number: 9, Stable: 1 << 40},
	} {
		f.Payload = payload
		out = out[:0]
		s.Receive(0, 0, f, &out)
		if len(out) != 1 || out[0].Kind != Recycle {
			t.Errorf("%+v: %+v, want the payload back", f, out)
		}
	}
	if !s.Idle() || s.Deadline() != proto.Never {
		t.Error("it has something to do")
	}
}

func TestStreamDoesNotAllocate(t *testing.T) {
	streamDoesNotAllocate(t, Shallow, Scheme{})
	for _, scheme := range namedSchemes(0) {
		streamDoesNotAllocate(t, Named, scheme)
	}
}

func streamDoesNotAllocate(t *testing.T, shape Shape, scheme Scheme) {
	t.Helper()
	const size = 8
	var (
		streams [size]*Stream
		links   [size * size]queue.Queue[Frame]
		pool    [][]byte
		out     StreamActions
		ended   int
		now     proto.Time
	)
	buffer := func() []byte {
		if len(pool) == 0 {
			return make([]byte, 64)
		}
		b := pool[len(pool)-1]
		pool = pool[:len(pool)-1]
		return b[:cap(b)]
	}
	for i := range streams {
		streams[i] = NewStream(StreamConfig{Self: i, Size: size, PullDelay: 100, Scheme: scheme})
	}
	perform := func(self int) {
		for i := range out {
			a := &out[i]
			switch a.Kind {
			case SendFrame:
				f := a.Frame
				if f.Payload != nil {
					f.Payload = buffer()[:len(f.Payload)]
					copy(f.Payload, a.Frame.Payload)
				}
				links[self*size+a.To].Push(f)
			case Coloured:
				ended++
			case Recycle:
				pool = append(pool, a.Frame.Payload)
			}
		}
		out = out[:0]
	}
	broadcast := func() {
		for i, s := range streams {
			var payload []byte
			if i == 0 {
				payload = buffer()
			}
			s.StartAs(now, 0, shape, payload, &out)
			perform(i)
		}
		for busy := true; busy; {
			busy = false
			for i, s := range streams {
				for from := range size {
					if q := &links[from*size+i]; q.Len() > 0 {
						s.Receive(now, from, q.Pop(), &out)
						perform(i)
						busy = true
					}
				}
				if s.SendReady(now, &out) {
					perform(i)
					busy = true
				}
			}
			for i, s := range streams { // what gossip has missed is pulled
				if d := s.Deadline(); !busy && d != proto.Never {
					now, busy = max(now, d), true
					s.Tick(now, &out)
					perform(i)
				}
			}
		}
	}
	for range 3 * DefaultWindow {
		broadcast()
	}
	if allocs := testing.AllocsPerRun(10*DefaultWindow, broadcast); allocs != 0 {
		t.Errorf("%s: %v allocations in a broadcast", scheme.name(), allocs)
	}
	if ended != size*(13*DefaultWindow+1) {
		t.Errorf("%s: %d ends of broadcasts", scheme.name(), ended)
	}
}
