package binding

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"banyan/internal/runtime/engine"
)

// Ranks of one host share the parts of all.
func TestWindow(t *testing.T) {
	const n = 3
	ranks(t, n, func(t *testing.T, p *Process) {
		var w Win
		var mine, other unsafe.Pointer
		me := rankOf(p)
		ok(t, "WinAllocateShared", p.WinAllocateShared(8, 8, InfoNull, CommWorld, unsafe.Pointer(&mine), &w))
		*(*int64)(mine) = int64(me)
		ok(t, "WinFence", p.WinFence(0, w))
		var size int64
		var unit int32
		for r := range n {
			ok(t, "WinSharedQuery", p.WinSharedQuery(w, int32(r), &size, CountOut{P: unsafe.Pointer(&unit)}, unsafe.Pointer(&other)))
			if size != 8 || unit != 8 || *(*int64)(other) != int64(r) {
				t.Errorf("rank %d sees of rank %d %d bytes, unit %d, value %d", me, r, size, unit, *(*int64)(other))
			}
		}
		ok(t, "WinFence", p.WinFence(0, w))
		for range 200 { // what isn't atomic is safe under the lock
			ok(t, "WinLock", p.WinLock(LockExclusive, n-1, 0, w))
			*(*int64)(other)++
			ok(t, "WinUnlock", p.WinUnlock(n-1, w))
		}
		ok(t, "WinFence", p.WinFence(0, w))
		if got := *(*int64)(other); got != n-1+200*n {
			t.Errorf("the sum is %d", got)
		}
		ok(t, "WinFree", p.WinFree(&w))
	})
}

// An error names the window, by its handle until it has a name.
func TestWindowFatal(t *testing.T) {
	var said string
	expectAbort(t, func(_ int, why string) { said = why })
	ranks(t, 1, func(t *testing.T, p *Process) {
		var w Win
		var base unsafe.Pointer
		ok(t, "WinAllocate", p.WinAllocate(8, 8, InfoNull, CommWorld, unsafe.Pointer(&base), &w))
		p.WinUnlock(0, w)
		t.Error("a mistake returns")
	})
	if !strings.HasPrefix(said, "MPI_Win_unlock on window 0x") || !strings.HasSuffix(said, ", rank 0: this rank hasn't locked rank 0's part (MPI_ERR_RMA_SYNC)") {
		t.Errorf("said %q", said)
	}
}

// With replicas, ranks that may share memory are alone, and a larger shared window is refused.
func TestWindowReplicated(t *testing.T) {
	var alone atomic.Int32
	replicated(t, 2, 2, func(t *testing.T, p *Process) {
		var node Comm
		var size int32
		ok(t, "CommSplitType", p.CommSplitType(CommWorld, CommTypeShared, 0, InfoNull, &node))
		ok(t, "CommSize", p.CommSize(node, &size))
		alone.Add(size)
		var w Win
		var base unsafe.Pointer
		ok(t, "WinAllocateShared", p.WinAllocateShared(16, 1, InfoNull, node, unsafe.Pointer(&base), &w))
		*(*int64)(base) = 1
		ok(t, "WinLock", p.WinLock(LockExclusive, 0, 0, w))
		ok(t, "WinUnlock", p.WinUnlock(0, w))
		ok(t, "WinFree", p.WinFree(&w))
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		if code := p.WinAllocateShared(16, 1, InfoNull, CommWorld, unsafe.Pointer(&base), &w); code != ErrRmaShared {
			t.Errorf("a shared window of two ranks: %d", code)
		}
		ok(t, "WinAllocate", p.WinAllocate(16, 1, InfoNull, CommWorld, unsafe.Pointer(&base), &w))
		ok(t, "WinSetErrhandler", p.WinSetErrhandler(w, ErrorsReturn))
		ok(t, "WinFence", p.WinFence(0, w))
		other := int32(1 - rankOf(p))
		if code := p.WinLock(LockShared, other, 0, w); code != ErrUnsupportedOperation {
			t.Errorf("a lock of a part that can't be reached: %d", code)
		}
		ok(t, "WinLock", p.WinLock(LockShared, 1-other, 0, w))
		ok(t, "WinUnlock", p.WinUnlock(1-other, w))
		ok(t, "WinFree", p.WinFree(&w))
	})
	if alone.Load() != 4 {
		t.Errorf("the communicators have %d members together", alone.Load())
	}
}

// A window is freed when all ranks that live want that, also after a death: until then they access
// the parts of others.
func TestWindowFreeAfterDeath(t *testing.T) {
	ranks(t, 3, func(t *testing.T, p *Process) {
		var w Win
		memory := new(int64)
		ok(t, "CommSetErrhandler", p.CommSetErrhandler(CommWorld, ErrorsReturn))
		ok(t, "WinCreate", p.WinCreate(unsafe.Pointer(memory), 8, 8, InfoNull, CommWorld, &w))
		ok(t, "WinSetErrhandler", p.WinSetErrhandler(w, ErrorsReturn))
		me := rankOf(p)
		var none byte
		if me == 2 {
			for r := range int32(2) { // all have the window
				ok(t, "Recv", p.Recv(unsafe.Pointer(&none), 0, TypeByte, r, 1, CommWorld, nil))
			}
			runtime.Goexit() // it dies
		}
		ok(t, "Send", p.Send(unsafe.Pointer(&none), 0, TypeByte, 2, 1, CommWorld))
		for !p.job.Engine().Lost(2) {
			time.Sleep(time.Millisecond)
			p.job.Engine().TestUntil(func(func(engine.Handle) bool) bool { return false })
		}
		if me == 1 {
			time.Sleep(100 * time.Millisecond)
			seven := int64(7)
			ok(t, "WinLock", p.WinLock(LockExclusive, 0, 0, w))
			ok(t, "Accumulate", p.Accumulate(unsafe.Pointer(&seven), 1, TypeLong, 0, 0, 1, TypeLong, OpSum, w))
			ok(t, "WinUnlock", p.WinUnlock(0, w))
		}
		ok(t, "WinFree", p.WinFree(&w))
		if me == 0 && *memory != 7 {
			t.Errorf("the window is freed while rank 1 accesses it: %d", *memory)
		}
	})
}
