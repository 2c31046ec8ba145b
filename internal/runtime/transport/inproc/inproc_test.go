package inproc

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/transporttest"
	"banyan/internal/runtime/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newJob(t *testing.T, n int) *transporttest.Job {
	net := NewNetwork(n)
	job := &transporttest.Job{Crash: net.Kill, Ended: transport.EvidenceExited}
	for p := range proto.Proc(n) {
		tr := net.Endpoint(p)
		job.Procs = append(job.Procs, tr)
		t.Cleanup(func() { tr.Close() })
	}
	return job
}

func TestConformance(t *testing.T) { transporttest.Run(t, newJob) }

// watcher is a sink that counts a stream of numbered frames and its end.
type watcher struct {
	t      *testing.T
	frames uint64
	closed int
}

func (w *watcher) Frame(_ proto.Proc, h *wire.Header, payload []byte) {
	w.frames++
	if h.Seq != w.frames || w.closed > 0 || !bytes.Equal(payload, bytes.Repeat([]byte{byte(h.Seq)}, len(payload))) {
		w.t.Errorf("frame %d as number %d, after %d ends", h.Seq, w.frames, w.closed)
	}
}
func (w *watcher) Dest(proto.Proc, *wire.Header) []byte { return nil }
func (w *watcher) Arrived(proto.Proc, *wire.Header)     {}
func (w *watcher) Sent(proto.Proc, uint64)              {}
func (w *watcher) Closed(_ proto.Proc, why transport.Evidence) {
	w.closed++
	if why != transport.EvidenceExited {
		w.t.Errorf("the evidence is %v", why)
	}
}

// A Proc may be killed from outside while its goroutine is in any call.
func TestKillAtAnyInstant(t *testing.T) {
	for round := range 50 {
		net := NewNetwork(2)
		stop := make(chan struct{})
		var sender sync.WaitGroup
		sender.Go(func() {
			tr := net.Endpoint(0)
			for seq := uint64(1); ; seq++ {
				select {
				case <-stop:
					return
				default:
				}
				size := int(seq % 3000)
				tr.Send(1, &wire.Header{Kind: wire.KindEager, Seq: seq, Total: uint64(size)}, bytes.Repeat([]byte{byte(seq)}, size), 0)
				for tr.Queued(1) > 1<<20 && tr.Poll(&watcher{t: t}) > 0 {
				}
			}
		})
		w := &watcher{t: t}
		receiver := net.Endpoint(1)
		for deadline := time.Now().Add(20 * time.Second); w.closed == 0; {
			receiver.Poll(w)
			if w.frames > uint64(round*20) {
				net.Kill(0)
				net.Kill(0)
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d frames, and no end", w.frames)
			}
		}
		close(stop)
		sender.Wait()
		for range 10 {
			receiver.Poll(w)
		}
		if w.closed != 1 {
			t.Errorf("closed %d times", w.closed)
		}
		receiver.Close()
	}
}

// The network knows every end, so all Procs are told, even those that never had contact with the
// dead one.
func TestEndIsToldToAll(t *testing.T) {
	const n = 70 // more than a word of the doorbell
	net := NewNetwork(n)
	net.Endpoint(69).Close()
	for p := range proto.Proc(n - 1) {
		w := &watcher{t: t}
		net.Endpoint(p).Poll(w)
		if w.closed != 1 {
			t.Errorf("%v was told %d ends", p, w.closed)
		}
	}
}

func TestPipeWrapsAround(t *testing.T) {
	p := new(pipe)
	var sent, got byte
	in, out := make([]byte, 1000), make([]byte, 777)
	for range 1000 {
		for i := range in {
			in[i] = sent + byte(i)
		}
		sent += byte(p.write(in[:333], in[333:]))
		n := p.read(out[:100], out[100:])
		for _, b := range out[:n] {
			if b != got {
				t.Fatalf("got %d, want %d", b, got)
			}
			got++
		}
	}
	if p.empty() || int(p.tail.Load()-p.head.Load()) > pipeSize {
		t.Errorf("%d bytes in a pipe of %d", p.tail.Load()-p.head.Load(), pipeSize)
	}
}
