package inproc

import (
	"math/bits"
	"sync/atomic"
	"time"

	"banyan/internal/proto"
)

// doorbell lets an endpoint's peers ask it to look at their pipes, and wakes it.
//
// No ring is missed. A peer changes the pipe, sets its bit, then checks whether the endpoint
// waits. The endpoint announces that it waits, then checks the bits; and it clears a bit before
// it looks at the pipe. Go's atomics are sequentially consistent, so at least one of the two sees
// the other.
type doorbell struct {
	bits  []atomic.Uint64 // one per peer
	alarm chan struct{}
	timer *time.Timer // of the one Wait

	_       cacheLine
	waiting atomic.Bool // read by every sender
	_       cacheLine
	woken   atomic.Bool // Wake was called, and no Wait has ended by it yet
}

func newDoorbell(n int) doorbell {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return doorbell{bits: make([]atomic.Uint64, (n+63)/64), alarm: make(chan struct{}, 1), timer: timer}
}

// ring asks the endpoint to look at a peer.
func (d *doorbell) ring(peer proto.Proc) {
	word, bit := &d.bits[peer/64], uint64(1)<<(peer%64)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
	d.rouse()
}

func (d *doorbell) rouse() {
	if !d.waiting.Load() {
		return
	}
	select {
	case d.alarm <- struct{}{}:
	default:
	}
}

func (d *doorbell) wake() {
	d.woken.Store(true)
	d.rouse()
}

// answer calls visit for each peer that has rung.
func (d *doorbell) answer(visit func(peer proto.Proc)) {
	for w := range d.bits {
		if d.bits[w].Load() == 0 {
			continue
		}
		for set := d.bits[w].Swap(0); set != 0; set &= set - 1 {
			visit(proto.Proc(w*64 + bits.TrailingZeros64(set)))
		}
	}
}

func (d *doorbell) rung() bool {
	for w := range d.bits {
		if d.bits[w].Load() != 0 {
			return true
		}
	}
	return false
}

// wait blocks until the doorbell rings, wake is called, or the limit is over.
func (d *doorbell) wait(limit time.Duration) {
	d.waiting.Store(true)
	if !d.woken.Load() && !d.rung() {
		if limit < 0 {
			<-d.alarm
		} else {
			d.timer.Reset(limit)
			select {
			case <-d.alarm:
			case <-d.timer.C:
			}
			d.timer.Stop()
		}
	}
	d.waiting.Store(false)
	d.woken.Store(false)
}
