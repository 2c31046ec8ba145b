package process

import (
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire"
)

// pipes is a network that costs next to nothing: a queue of frames whose payloads are
// borrowed until they are delivered, at once.
type pipes struct {
	frameLog
	self proto.Proc
	net  *pipeline
}

type pipeline struct {
	procs []*Process
	queue []piped
	spare [][]byte
}

type piped struct {
	from, to proto.Proc
	header   wire.Header
	payload  []byte
	token    uint64
}

func (p *pipes) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	n := p.net
	f := piped{p.self, to, *h, nil, token}
	f.header.Length = uint32(len(payload))
	if token != 0 {
		f.payload = payload // borrowed until Sent
	} else { // as a ring in shared memory: one copy
		if k := len(n.spare); k > 0 {
			f.payload, n.spare = n.spare[k-1][:0], n.spare[:k-1]
		}
		f.payload = append(f.payload, payload...)
	}
	n.queue = append(n.queue, f)
}

func (p *pipes) Died(detector.Report)          {}
func (p *pipes) Viewed(*membership.View, bool) {}

// drain delivers all frames.
func (n *pipeline) drain() {
	for i := 0; i < len(n.queue); i++ {
		f := n.queue[i]
		n.procs[f.to].Frame(f.from, &f.header, f.payload)
		if f.token != 0 {
			n.procs[f.from].Sent(f.to, f.token)
		} else {
			n.spare = append(n.spare, f.payload)
		}
	}
	n.queue = n.queue[:0]
}

// BenchmarkVerify is a message from a rank of 2 replicas to another one: what both replicas
// of both do for it, but for the network, with acknowledgements for 16 messages at a time. Its
// ratio is what --verify costs where nothing else takes time.
func BenchmarkVerify(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 32 << 10, 1 << 20} {
		for _, mode := range []string{"without", "verified"} {
			b.Run(fmt.Sprintf("%d/%s", size, mode), func(b *testing.B) {
				n := new(pipeline)
				layout := layout.Uniform(2, 2)
				for q := range proto.Proc(4) {
					t := &pipes{self: q, net: n}
					cfg := Config{Self: q, Layout: layout, Period: 100e6, Timeout: 1e9}
					if mode == "verified" {
						cfg.Corrupted = func(c Corruption) { b.Fatal(c) }
					}
					p := New(cfg, 0, t, t)
					if err := p.OpenContext(2, []proto.Rank{0, 1}, false); err != nil {
						b.Fatal(err)
					}
					n.procs = append(n.procs, p)
				}
				n.drain()
				data, buffer := make([]byte, size), make([]byte, size)
				b.SetBytes(int64(2 * size))
				b.ReportAllocs()
				var sent [2]Handle
				for i := 0; b.Loop(); i++ {
					for k := range 2 {
						src, dst := n.procs[layout.Proc(0, k)], n.procs[layout.Proc(1, k)]
						r := dst.Receive(2, 0, 1, buffer)
						s := src.Send(2, 1, 1, data)
						n.drain()
						if !dst.Done(r) {
							b.Fatal("it hasn't arrived")
						}
						dst.Take(r)
						sent[k] = s
					}
					for k := range 2 { // large ones end when both receivers have them
						if src := n.procs[layout.Proc(0, k)]; src.Done(sent[k]) {
							src.Take(sent[k])
						} else {
							b.Fatal("it hasn't left")
						}
					}
					if i%16 == 0 {
						for _, p := range n.procs {
							p.Work()
						}
						n.drain()
					}
				}
			})
		}
	}
}
