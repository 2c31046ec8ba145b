package transporttest

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// patience bounds every wait of the suite, so that no test hangs.
const patience = 30 * time.Second

// pattern has the bytes of all payloads.
var pattern = func() []byte {
	b := make([]byte, wire.MaxPayload+256)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}()

// payload is the content of a channel's frame number seq.
func payload(seq uint64, size int) []byte {
	start := int(seq % 256)
	return pattern[start : start+size]
}

// node is one Proc: its transport, and a sink that checks that each channel's frames arrive whole
// and numbered 1, 2, 3…, and that each Dest, loan and Closed has the right outcome.
type node struct {
	t    *testing.T
	self proto.Proc
	tr   transport.Transport

	sent     []uint64 // per peer: frames sent
	received []uint64 // per peer: frames arrived
	closed   []int    // per peer: how often Closed came
	evidence []transport.Evidence
	loans    map[uint64]proto.Proc // borrowed payloads by token
	tokens   uint64
	dest     []destination // per peer: the outstanding Dest
	refuse   bool          // answer Dest with nil
	onFrame  func(from proto.Proc, h *wire.Header)
}

type destination struct {
	bytes   []byte
	pending bool
}

func newNode(t *testing.T, self proto.Proc, n int, tr transport.Transport) *node {
	return &node{
		t: t, self: self, tr: tr,
		sent: make([]uint64, n), received: make([]uint64, n), closed: make([]int, n),
		evidence: make([]transport.Evidence, n), dest: make([]destination, n),
		loans: map[uint64]proto.Proc{},
	}
}

// send sends the channel's next frame.
func (n *node) send(to proto.Proc, size int, borrow bool) {
	n.sent[to]++
	seq := n.sent[to]
	h := wire.Header{
		Kind: wire.KindEager, Flags: 3, Context: 4, Seq: seq, Src: proto.Rank(n.self), Dst: proto.Rank(to),
		Tag: -5, Aux: 6, Total: uint64(size), Offset: 7, ID: 8,
	}
	if !borrow {
		scratch := bytes.Clone(payload(seq, size))
		n.tr.Send(to, &h, scratch, 0)
		clear(scratch) // Send has copied what it couldn't send
		return
	}
	n.tokens++
	n.loans[n.tokens] = to
	n.tr.Send(to, &h, payload(seq, size), n.tokens)
}

func (n *node) poll() int { return n.tr.Poll(n) }

func (n *node) check(from proto.Proc, h *wire.Header) {
	n.received[from]++
	want := wire.Header{
		Kind: wire.KindEager, Flags: 3, Length: h.Length, Context: 4, Seq: n.received[from], Src: proto.Rank(from), Dst: proto.Rank(n.self),
		Tag: -5, Aux: 6, Total: uint64(h.Length), Offset: 7, ID: 8,
	}
	if *h != want {
		n.t.Errorf("%v from %v: got %+v, want %+v", n.self, from, *h, want)
	}
	if n.closed[from] > 0 {
		n.t.Errorf("%v: frame %d of %v came after its end", n.self, h.Seq, from)
	}
	if n.onFrame != nil {
		n.onFrame(from, h)
	}
}

func (n *node) Frame(from proto.Proc, h *wire.Header, got []byte) {
	if len(got) > transport.DirectSize || n.dest[from].pending {
		n.t.Errorf("%v: %d bytes of %v by Frame, Dest outstanding: %v", n.self, len(got), from, n.dest[from].pending)
	}
	if !bytes.Equal(got, payload(h.Seq, int(h.Length))) {
		n.t.Errorf("%v: frame %d of %v isn't what was sent", n.self, h.Seq, from)
	}
	n.check(from, h)
}

func (n *node) Dest(from proto.Proc, h *wire.Header) []byte {
	if h.Length <= transport.DirectSize || n.dest[from].pending {
		n.t.Errorf("%v: Dest for %d bytes of %v, outstanding: %v", n.self, h.Length, from, n.dest[from].pending)
	}
	n.dest[from] = destination{pending: true}
	if !n.refuse {
		n.dest[from].bytes = make([]byte, h.Length)
	}
	return n.dest[from].bytes
}

func (n *node) Arrived(from proto.Proc, h *wire.Header) {
	d := n.dest[from]
	n.dest[from] = destination{}
	if !d.pending {
		n.t.Errorf("%v: Arrived from %v without Dest", n.self, from)
	}
	if d.bytes != nil && !bytes.Equal(d.bytes, payload(h.Seq, int(h.Length))) {
		n.t.Errorf("%v: frame %d of %v isn't what was sent", n.self, h.Seq, from)
	}
	n.check(from, h)
}

func (n *node) Sent(to proto.Proc, token uint64) {
	if lent, ok := n.loans[token]; !ok || lent != to {
		n.t.Errorf("%v: token %d given back by %v, lent: %v %v", n.self, token, to, ok, lent)
	}
	delete(n.loans, token)
}

func (n *node) Closed(peer proto.Proc, why transport.Evidence) {
	n.closed[peer]++
	n.evidence[peer] = why
	n.dest[peer] = destination{}
	if n.closed[peer] > 1 {
		n.t.Errorf("%v: %v closed %d times", n.self, peer, n.closed[peer])
	}
	for token, to := range n.loans {
		if to == peer {
			n.t.Errorf("%v: %v closed while token %d is lent", n.self, peer, token)
		}
	}
}

// until polls the nodes in turn until done says yes.
func until(t *testing.T, what string, nodes []*node, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		moved := 0
		for _, n := range nodes {
			moved += n.poll()
		}
		if moved == 0 {
			runtime.Gosched()
		}
		if time.Now().After(deadline) {
			t.Fatalf("no end of waiting until %s", what)
		}
	}
}

// settle polls for a while in which nothing more should happen.
func settle(nodes []*node) {
	for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); runtime.Gosched() {
		for _, n := range nodes {
			n.poll()
		}
	}
}
