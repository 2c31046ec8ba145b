package comm_test

import (
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"time"

	"banyan/internal/layout"
	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/inproc"
	"banyan/internal/runtime/wire"
)

// sent is what replication numbers: the position of a message in its channel.
type sent struct {
	context uint64
	dst     proto.Rank
	seq     uint64
}

// recorder is a transport that records every message of a process.
type recorder struct {
	transport.Transport
	stamp int // bytes at the end of a payload that are replication's
	mu    sync.Mutex
	notes map[sent]string
}

func (n *recorder) Send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if h.Kind == wire.KindEager || h.Kind == wire.KindOffer {
		sum := fnv.New64a()
		sum.Write(payload[:len(payload)-n.stamp])
		n.mu.Lock()
		n.notes[sent{h.Context, h.Dst, h.Seq}] = fmt.Sprintf("tag %d, %d bytes, %x", h.Tag, h.Total, sum.Sum64())
		n.mu.Unlock()
	}
	n.Transport.Send(to, h, payload, token)
}

// Replicas send the same messages under the same numbers, whatever their timing: many operations
// run in the background, and each replica waits for them in an order of its own.
func TestReplicasSendTheSame(t *testing.T) {
	const ranks, replicas = 4, 2
	for seed := range uint64(2) {
		layout := layout.Uniform(ranks, replicas)
		net := inproc.NewNetwork(layout.Procs())
		notaries := make([]*recorder, layout.Procs())
		errs := make([]error, layout.Procs())
		var wg sync.WaitGroup
		for i := range notaries {
			n := &recorder{Transport: net.Endpoint(proto.Proc(i)), stamp: 4 * ranks, notes: map[sent]string{}}
			notaries[i] = n
			e := engine.New(engine.Config{Crowd: 2, Process: process.Config{
				Self: proto.Proc(i), Layout: layout, Period: 100e6, Timeout: 1e15,
			}}, n)
			wg.Go(func() {
				w, err := comm.World(e)
				if err == nil {
					time.Sleep(time.Duration(i/ranks) * time.Millisecond) // a replica lags
					err = medley(w, seed, 40, never)
				}
				if err == nil {
					err = e.Finish()
				}
				errs[i] = err
			})
		}
		wg.Wait()
		for i, err := range errs {
			if err != nil {
				t.Fatalf("process %d: %v", i, err)
			}
		}
		for r := range ranks {
			a, b := notaries[r].notes, notaries[r+ranks].notes
			if len(a) == 0 || len(a) != len(b) {
				t.Errorf("seed %d: rank %d's replicas have sent %d and %d messages", seed, r, len(a), len(b))
			}
			for m, what := range a {
				if b[m] != what {
					t.Fatalf("seed %d: rank %d's message %+v is %s at one replica, %q at the other", seed, r, m, what, b[m])
				}
			}
		}
	}
}
