package agent

import (
	"runtime"
	"sync"
	"syscall"
)

// thread is an OS thread that lives until its end is asked for. The kernel sends a child its
// PDEATHSIG when the thread that started it ends, not when the process ends.
type thread struct {
	work chan func()
	over chan struct{}
	once *sync.Once
}

func newThread() thread {
	t := thread{make(chan func()), make(chan struct{}), new(sync.Once)}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for {
			select {
			case f := <-t.work:
				f()
			case <-t.over:
				return
			}
		}
	}()
	return t
}

// do runs f on the thread, and returns what f returns. After the thread's end it fails.
func (t thread) do(f func() error) (err error) {
	done := make(chan struct{})
	select {
	case t.work <- func() { err = f(); close(done) }:
		<-done
		return err
	case <-t.over:
		return &StartError{Op: "start", Err: syscall.ESHUTDOWN}
	}
}

func (t thread) end() { t.once.Do(func() { close(t.over) }) }
