package process

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// testJob is the third driver: whole processes over a network in memory, with every choice taken
// by a seeded source. A failing run is repeated by its seed.
type testJob struct {
	t      testing.TB
	rng    *rand.Rand
	layout layout.Layout
	nodes  []*node
	links  map[[2]proto.Proc][]packet
	keeps  *keeps
	sent   *frameSums      // of what is sent, if set
	pairs  [][2]proto.Proc // keys of links, in creation order
	now    proto.Time

	oneWitness bool // one process at most sees the end of a link to a dead one; others hear of it
}

type packet struct {
	header  wire.Header
	payload []byte
	token   uint64
	closed  bool // the sender's end
	left    bool // the launcher's word that the sender has left
}

type node struct {
	turns   int // of advance
	w       *testJob
	self    proto.Proc
	p       *Process
	dead    bool
	fenced  map[proto.Proc]bool
	exposed [][]byte
	revoked uint64
	attends bool
	crammed bool // more waits for each peer than there is room for
	program program
	gone    bool // left in order
	lost    []proto.Rank
	aborted bool

	healFailed error
	owed       []borrowed // to give back at the next step
}

type borrowed struct {
	to    proto.Proc
	token uint64
}

// program is what a rank does. step is called again and again, does at most one thing, and tells
// whether the program is through.
type program interface {
	step(p *Process) (finished bool)
}

func newTestJob(t testing.TB, seed uint64, layout layout.Layout, make func(rank proto.Rank, replica int) program) *testJob {
	return newTestJobOf(t, seed, Config{Layout: layout, Period: 100e6, Timeout: 1e9}, make)
}

// newTestJobOf makes a job of processes that differ in Self only.
func newTestJobOf(t testing.TB, seed uint64, cfg Config, make func(rank proto.Rank, replica int) program) *testJob {
	layout := cfg.Layout
	w := &testJob{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), layout: layout,
		links: map[[2]proto.Proc][]packet{}, keeps: newKeeps(),
	}
	for q := range proto.Proc(layout.Procs()) {
		n := &node{w: w, self: q, fenced: map[proto.Proc]bool{}}
		w.nodes = append(w.nodes, n)
	}
	for _, n := range w.nodes {
		cfg.Self = n.self
		n.p = New(cfg, 0, n, n)
		members := []proto.Rank{}
		for r := range proto.Rank(layout.Ranks()) {
			members = append(members, r)
		}
		if err := n.p.OpenContext(2, members, false); err != nil {
			t.Fatal(err)
		}
		if err := n.p.OpenContext(3, members, true); err != nil {
			t.Fatal(err)
		}
		n.program = make(layout.Rank(n.self), layout.Replica(n.self))
	}
	return w
}

func (n *node) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if n.dead {
		return
	}
	if n.fenced[to] {
		if token != 0 {
			n.owed = append(n.owed, borrowed{to, token})
		}
		return
	}
	hh := *h
	hh.Length = uint32(len(payload))
	n.w.sent.add(&hh, payload)
	n.w.push(n.self, to, packet{header: hh, payload: append([]byte(nil), payload...), token: token})
}

// Expose, Revoke and Read make it a transport.DirectReader that refuses now and then.
func (n *node) Expose(data []byte) uint64 {
	n.exposed = append(n.exposed, data)
	return uint64(len(n.exposed)) | n.revoked<<32
}
func (n *node) Revoke() { n.revoked++ }

// Attend and Answers have some data asked for, and some read.
func (n *node) Attend(on bool) { n.attends = on }
func (n *node) Answers(q proto.Proc) bool {
	return n.w.nodes[q].attends && n.w.rng.IntN(2) == 0
}
func (n *node) Read(from proto.Proc, dst []byte, address, offset uint64) bool {
	m := n.w.nodes[from]
	if m.dead || n.fenced[from] || address>>32 != m.revoked || n.w.rng.IntN(4) == 0 {
		return false
	}
	copy(dst, m.exposed[uint32(address)-1][offset:])
	return true
}

func (n *node) Queued(proto.Proc) int {
	if n.crammed {
		return queueLimit + 1
	}
	return 0
}
func (n *node) Fence(q proto.Proc)              { n.fenced[q] = true }
func (n *node) Died(detector.Report)            {}
func (n *node) Viewed(*membership.View, bool)   {}
func (n *node) Apart(proto.Proc)                {}
func (n *node) Minority([]membership.Departure) {}
func (n *node) HealFailed(err error)            { n.healFailed = err }
func (n *node) Heals(HealStep)                  {}
func (n *node) SafepointWanted(bool)            {}
func (n *node) RankLost(r proto.Rank)           { n.lost = append(n.lost, r) }
func (n *node) Revoked(uint64)                  {}
func (n *node) Fenced(by proto.Proc) {
	n.w.t.Fatalf("%v was fenced by %v although it lives", n.self, by)
}
func (n *node) Aborted(by proto.Proc, _ int) { n.aborted = true }
func (w *testJob) push(from, to proto.Proc, pk packet) {
	key := [2]proto.Proc{from, to}
	if _, ok := w.links[key]; !ok {
		w.pairs = append(w.pairs, key)
	}
	w.links[key] = append(w.links[key], pk)
}

// crash kills a process. Of what it has sent to each other process, any prefix arrives.
func (w *testJob) crash(q proto.Proc) {
	if q == proto.NoProc {
		return
	}
	n := w.nodes[q]
	if n.dead || n.gone {
		return
	}
	n.dead = true
	for _, key := range w.pairs {
		if key[0] == q {
			l := w.links[key]
			w.links[key] = l[:w.rng.IntN(len(l)+1)]
		}
	}
	witness := proto.NoProc
	if w.oneWitness {
		witness = proto.Proc(w.rng.IntN(len(w.nodes)))
	}
	for _, m := range w.nodes {
		if m.self != q && (!w.oneWitness || m.self == witness) {
			w.push(q, m.self, packet{closed: true})
		}
	}
}

// deliver hands over the oldest packet of a link.
func (w *testJob) deliver(key [2]proto.Proc) {
	l := w.links[key]
	pk := l[0]
	w.links[key] = l[1:]
	from, to := key[0], w.nodes[key[1]]
	if pk.token != 0 && !w.nodes[from].dead {
		w.nodes[from].p.Sent(key[1], pk.token)
	}
	if to.dead || to.gone || (to.fenced[from] && !pk.closed && !pk.left) {
		return
	}
	to.p.At(w.now)
	switch {
	case pk.left:
		to.p.Left(from)
	case pk.closed:
		to.p.Closed(from, transport.EvidenceExited)
	case len(pk.payload) > transport.DirectSize:
		if dest := to.p.Dest(from, &pk.header); dest != nil {
			copy(dest, pk.payload)
		}
		to.p.Arrived(from, &pk.header)
	default:
		to.p.Frame(from, &pk.header, pk.payload)
	}
}

// run goes on until all live processes have left. So many crashes happen, each at a random
// moment. victim chooses the process.
func (w *testJob) run(crashes int, victim func() proto.Proc) {
	for steps := 0; ; steps++ {
		if steps > 2_000_000 {
			w.t.Fatalf("no end in sight: %s", w.state())
		}
		if crashes > 0 && w.rng.IntN(400) == 0 {
			crashes--
			w.crash(victim())
		}
		if w.rng.IntN(3) > 0 {
			if key, ok := w.pick(); ok {
				w.deliver(key)
				continue
			}
		}
		n := w.nodes[w.rng.IntN(len(w.nodes))]
		if n.dead || n.gone {
			if w.allGone() {
				return
			}
			continue
		}
		w.advance(n)
	}
}

func (w *testJob) advance(n *node) {
	n.p.At(w.now)
	for len(n.owed) > 0 {
		b := n.owed[0]
		n.owed = n.owed[1:]
		n.p.Sent(b.to, b.token)
	}
	n.p.Work()
	if n.turns++; n.turns%3 == 0 { // sooner than after replica.AcksOwedTime
		n.p.flushAcks()
	}
	w.pass()
	if n.program != nil {
		if n.program.step(n.p) {
			n.program = nil
			n.p.Finish()
		}
		return
	}
	if err := n.p.Diverged(); err != nil {
		w.t.Fatalf("%v: %v", n.self, err)
	}
	if n.p.Flushed() {
		n.p.Depart()
	}
	if n.p.Departed() {
		n.p.Goodbye()
		n.gone = true
		for _, m := range w.nodes {
			if m != n {
				w.push(n.self, m.self, packet{left: true})
			}
		}
	}
}

// pass lets a little time pass now and then. It passes slowly: no process may be suspected of
// silence here.
func (w *testJob) pass() {
	if w.rng.IntN(20) > 0 {
		return
	}
	w.now += 1e5
	for _, m := range w.nodes {
		if !m.dead && !m.gone && w.now >= m.p.Deadline() {
			m.p.At(w.now)
			m.p.Tick()
		}
	}
}

func (w *testJob) pick() ([2]proto.Proc, bool) {
	if len(w.pairs) == 0 {
		return [2]proto.Proc{}, false
	}
	first := w.rng.IntN(len(w.pairs))
	for i := range w.pairs {
		key := w.pairs[(first+i)%len(w.pairs)]
		if len(w.links[key]) > 0 {
			return key, true
		}
	}
	return [2]proto.Proc{}, false
}

func (w *testJob) allGone() bool {
	for _, n := range w.nodes {
		if !n.dead && !n.gone {
			return false
		}
	}
	return true
}

func (w *testJob) state() string {
	s := ""
	for _, n := range w.nodes {
		s += fmt.Sprintf("\n%v: dead %v, left %v, program through %v", n.self, n.dead, n.gone, n.program == nil)
		m, _ := n.p.replica.Retained()
		s += fmt.Sprintf(" retained %d, acks owed %d, flushed %v", m, n.p.replica.AcksOwed(), n.p.Flushed())
	}
	return s
}
