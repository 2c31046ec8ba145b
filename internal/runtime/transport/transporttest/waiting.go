package transporttest

import (
	"sync"
	"testing"
	"time"
)

func testWait(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	me := nodes[0]
	settle(nodes)

	me.tr.Wake()
	me.tr.Wait(-1) // the Wake before it ends this Wait

	woken := make(chan struct{})
	go func() {
		defer close(woken)
		time.Sleep(5 * time.Millisecond)
		me.tr.Wake()
	}()
	me.tr.Wait(-1)
	<-woken

	for range 3 { // it may return early, but not for ever
		me.tr.Wait(time.Millisecond)
	}
	me.tr.Wait(0)

	const frames = 50
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range frames {
			nodes[1].send(0, 10, false)
			for end := time.Now().Add(500 * time.Microsecond); time.Now().Before(end); {
				nodes[1].poll()
			}
		}
		until(t, "the queue is empty", nodes[1:], func() bool { return nodes[1].tr.Queued(0) == 0 })
	}()
	for me.received[1] < frames {
		me.tr.Wait(patience)
		me.poll()
	}
	<-done

	me.send(1, 10, true) // a borrowed payload that is due ends a Wait, too
	for len(me.loans) > 0 {
		me.tr.Wait(patience)
		me.poll()
	}
}

// Wait and Wake run beside the owner's calls, and a Wait sees what they change.
func testWaitBesideOthers(t *testing.T, factory Factory) {
	_, nodes := start(t, factory, 2)
	me, other := nodes[0], nodes[1]
	const frames = 300
	var lock sync.Mutex
	var all sync.WaitGroup
	stop := make(chan struct{})
	all.Go(func() { // the progress thread
		for {
			select {
			case <-stop:
				return
			default:
			}
			me.tr.Wait(patience)
			lock.Lock()
			me.poll()
			lock.Unlock()
		}
	})
	all.Go(func() {
		until(t, "all frames have arrived", []*node{other}, func() bool {
			if other.sent[0] < frames {
				other.send(0, 20, false)
			}
			return other.received[0] == frames && other.sent[0] == frames && other.tr.Queued(0) == 0
		})
	})
	for range frames {
		lock.Lock()
		me.send(1, 5000, true)
		lock.Unlock()
	}
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Microsecond) {
		lock.Lock()
		finished := me.received[1] == frames && len(me.loans) == 0 && me.tr.Queued(1) == 0
		lock.Unlock()
		if finished {
			break
		}
		if time.Now().After(end) {
			t.Error("the progress thread slept through its work")
			break
		}
	}
	close(stop)
	me.tr.Wake()
	all.Wait()
}
