package process

import (
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// payloads is a frameLog that also keeps the lists of the processes that are gone.
type payloads struct {
	frameLog
	lists [][]wire.Gone
	to    []proto.Proc
}

func (w *payloads) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if h.Kind == wire.KindMembership {
		return // they follow each death
	}
	w.frameLog.Send(to, h, payload, token)
	var list []wire.Gone
	for ; len(payload) > 0; payload = payload[wire.GoneSize:] {
		list = append(list, wire.DecodeGone(payload))
	}
	w.lists, w.to = append(w.lists, list), append(w.to, to)
}

// eight is process 0 of eight, on four hosts with two neighbours each.
func eight() (*Process, *payloads) {
	w := &payloads{}
	p := New(Config{
		Layout: layout.Uniform(8, 1), Period: 100e6, Timeout: 1e9,
		Hosts: []int32{0, 0, 1, 1, 2, 2, 3, 3},
	}, 0, w, w)
	return p, w
}

func gonePayload(list ...wire.Gone) (b []byte) {
	for _, g := range list {
		b = wire.AppendGone(b, g)
	}
	return b
}

// The ring is 0 2 4 6 1 3 5 7: heartbeats go to 2, and 7 is observed.
func TestRingInterleavedByHost(t *testing.T) {
	_, w := eight()
	if len(w.to) != 1 || w.headers[0].Kind != wire.KindHeartbeat || w.to[0] != 2 {
		t.Errorf("the first frame is a %v to %v", w.headers[0].Kind, w.to)
	}
}

// With each of its first heartbeats a process introduces itself to one more of those to which it
// would pass on news. Then it sends heartbeats only to its observer.
func TestIntroductions(t *testing.T) {
	p, w := eight()
	for now := proto.Time(100e6); now <= 500e6; now += 100e6 {
		p.At(now)
		p.Tick()
	}
	if want := []proto.Proc{2, 2, 4, 2, 1, 2, 2, 2}; !slices.Equal(w.to, want) {
		t.Errorf("heartbeats to %d, want %d", w.to, want)
	}
}

// Where one launcher reaps all processes of one host, a process sends heartbeats to its observer
// only: a job makes a link for each process to start, not one for each and each power of two.
func TestNoIntroductionsWithinAHost(t *testing.T) {
	for _, tc := range []struct {
		hosts   []int32
		witness bool
		frames  int
	}{
		{[]int32{0, 0, 0, 0, 0, 0, 0, 0}, true, 6},
		{[]int32{0, 0, 0, 0, 0, 0, 0, 0}, false, 8},
		{[]int32{0, 0, 0, 0, 1, 1, 1, 1}, true, 8},
		{nil, true, 8},
	} {
		w := &payloads{}
		p := New(Config{Self: 0, Layout: layout.Uniform(8, 1), Period: 100e6, Timeout: 1e9, Hosts: tc.hosts, Witness: tc.witness}, 0, w, w)
		for now := proto.Time(100e6); now <= 500e6; now += 100e6 {
			p.At(now)
			p.Tick()
		}
		if len(w.to) != tc.frames {
			t.Errorf("hosts %v, witness %t: heartbeats to %v, want %d", tc.hosts, tc.witness, w.to, tc.frames)
		}
	}
}

// Between hosts a silent process is told of when it is suspected: its launcher may not reach it.
// Within a host that ends it first, and tells.
func TestSilenceIsToldAtOnceBetweenHosts(t *testing.T) {
	for _, tc := range []struct {
		hosts []int32
		late  bool
	}{
		{[]int32{0, 0, 0, 0, 0, 0, 0, 0}, true},
		{[]int32{0, 0, 1, 1, 2, 2, 3, 3}, false},
	} {
		w := &payloads{}
		p := New(Config{Self: 0, Layout: layout.Uniform(8, 1), Period: 100e6, Timeout: 1e9, Hosts: tc.hosts, Witness: true}, 0, w, w)
		suspected, told := proto.Time(0), proto.Time(0)
		for now := proto.Time(10e6); told == 0 && now <= 4e9; now += 10e6 {
			p.At(now)
			p.Tick()
			if suspected == 0 && len(w.fenced) > 0 {
				suspected = now
			}
			if w.last(wire.KindNews) != nil {
				told = now
			}
		}
		want := proto.Time(0)
		if tc.late {
			want = 100e6
		}
		if suspected == 0 || told-suspected != want {
			t.Errorf("hosts %v: suspected at %d, told at %d", tc.hosts, suspected, told)
		}
	}
}

// A copy of a broadcast makes a death known, and goes on as it came, except to the sender.
func TestNewsArePassedOn(t *testing.T) {
	p, w := eight()
	p.Frame(6, &wire.Header{Kind: wire.KindNews, Src: 6, Tag: 0, Flags: 0}, gonePayload(wire.Gone{Proc: 4}, wire.Gone{Proc: 3, Left: true}))
	if p.Alive(4) || !p.Alive(3) || p.peers[3].state != peerLeft || p.peers[4].state != peerDead {
		t.Fatalf("4 alive %t, 3 alive %t", p.Alive(4), p.Alive(3))
	}
	if len(w.fenced) != 1 || w.fenced[0] != 4 {
		t.Errorf("fenced %v", w.fenced)
	}
	// The live processes are labelled from the source: 6 1 5 7 0 2. Label 4 isn't in cube 0,
	// and is vertex 2 of cube 1, next to vertex 3, label 3.
	if h := w.last(wire.KindNews); h != nil {
		t.Errorf("a copy of cube 0 goes on: %+v", h)
	}
	p.Frame(7, &wire.Header{Kind: wire.KindNews, Src: 6, Tag: 1, Flags: 1}, gonePayload(wire.Gone{Proc: 4}, wire.Gone{Proc: 3, Left: true}))
	h := w.last(wire.KindNews)
	if h == nil || h.Src != 6 || h.Tag != 1 || h.Flags != 1 || h.Seq != 0 || h.Aux != 0 {
		t.Fatalf("passed on as %+v", h)
	}
	if last := len(w.to) - 1; w.to[last] != 7 || len(w.lists[last]) != 2 || w.lists[last][1] != (wire.Gone{Proc: 3, Left: true}) {
		t.Errorf("passed on to %v: %+v", w.to[last], w.lists[last])
	}
}

// The digest in two heartbeats differs: the lists are exchanged.
func TestDigestsAreCompared(t *testing.T) {
	p, w := eight()
	beat := wire.Header{Kind: wire.KindHeartbeat, Context: 77, Total: 1}
	p.Frame(7, &beat, nil)
	if w.last(wire.KindReconcile) != nil {
		t.Fatal("after one heartbeat")
	}
	p.Frame(7, &beat, nil)
	h := w.last(wire.KindReconcile)
	if h == nil || !h.Reconcile().Ask || w.to[len(w.to)-1] != 7 {
		t.Fatalf("reconciled by %+v", h)
	}
	p.Frame(7, &wire.Header{Kind: wire.KindReconcile}, gonePayload(wire.Gone{Proc: 1}))
	if p.Alive(1) {
		t.Error("the answer isn't heard")
	}
	p.Frame(7, &wire.Header{Kind: wire.KindReconcile, Flags: 1}, nil)
	if h := w.last(wire.KindReconcile); h.Flags != 0 || len(w.lists[len(w.lists)-1]) != 1 {
		t.Errorf("answered by %+v with %v", h, w.lists[len(w.lists)-1])
	}
}

func TestEvictionsNameIncarnations(t *testing.T) {
	p, w := eight()
	p.Evidence(5, 0)
	p.Frame(5, &wire.Header{Kind: wire.KindHeartbeat}, nil)
	if h := w.last(wire.KindEviction); h == nil || h.Aux != 0 {
		t.Fatalf("answered by %+v", h)
	}
	p.Frame(3, &wire.Header{Kind: wire.KindEviction}, nil)
	if !p.Fenced() {
		t.Error("an eviction notice doesn't fence")
	}
}

// An excused process isn't suspected, however long it is silent.
func TestExcused(t *testing.T) {
	p, _ := eight()
	p.Excuse(7, true)
	for now := proto.Time(0); now < 20e9; now += 50e6 {
		p.At(now)
		p.Tick()
	}
	if !p.Alive(7) {
		t.Error("taken for dead")
	}
	p.Excuse(7, false)
	for now := proto.Time(20e9); now < 22.5e9; now += 50e6 {
		p.At(now)
		p.Tick()
	}
	if p.Alive(7) {
		t.Error("never taken for dead again")
	}
}

// A process that is said to lack a core each time it is doubtful isn't taken for dead before ten
// times δ.
func TestStarvationIsBorne(t *testing.T) {
	p, _ := eight()
	for now := proto.Time(0); ; now += 10e6 {
		p.At(now)
		q := p.Doubtful()
		switch {
		case q != proto.NoProc && now < 2e9, q == proto.NoProc && now == 2e9:
			t.Fatalf("%v is doubtful after %v", q, now)
		case q != proto.NoProc:
			p.Bear(q)
		}
		p.Tick()
		if p.Alive(7) == (now >= 10e9) {
			t.Fatalf("alive after %v: %v", now, p.Alive(7))
		}
		if now == 10e9 {
			return
		}
	}
}

func FuzzDetectionFrames(f *testing.F) {
	f.Add(uint8(wire.KindNews), uint8(6), uint8(0), int32(0), int32(6), uint64(0), int32(0), gonePayload(wire.Gone{Proc: 4}))
	f.Add(uint8(wire.KindReconcile), uint8(7), uint8(1), int32(0), int32(0), uint64(1), int32(1), gonePayload(wire.Gone{Proc: 900, Left: true}, wire.Gone{}))
	f.Fuzz(func(t *testing.T, kind, from, flags uint8, tag, src int32, seq uint64, aux int32, payload []byte) {
		h := wire.Header{Kind: wire.Kind(kind), Flags: flags, Tag: tag, Src: proto.Rank(src), Seq: seq, Aux: aux, Length: uint32(len(payload))}
		if h.Kind < wire.KindHeartbeat || h.Kind > wire.KindEviction || h.Check() != nil {
			return
		}
		p, w := eight()
		p.Frame(proto.Proc(from%7)+1, &h, payload)
		p.Frame(proto.Proc(from%7)+1, &h, payload)
		p.At(3e9)
		p.Tick()
		for i := range w.headers {
			w.headers[i].Length = uint32(len(w.lists[i]) * wire.GoneSize)
			if err := w.headers[i].Check(); err != nil || w.to[i] < 0 || int(w.to[i]) >= 8 {
				t.Fatalf("sends to %v: %v", w.to[i], err)
			}
		}
	})
}
