package mesh

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pollerWait lets a goroutine wait for an epoll set while it is parked in the Go runtime's poller.
//
// To begin and to end such a wait takes longer than a blocking system call. But while a thread
// blocks in a system call, another thread of the runtime looks every 20 µs for a millisecond or
// more. In an otherwise idle process that costs more than all else together: at a hundred
// heartbeats a second it is half of the time.
//
// The runtime watches a second set, whose only member is the first one, and only while a thread
// waits. Otherwise each frame would wake one of the runtime's threads, even when the program
// itself polls.
type pollerWait struct {
	outer *os.File
	raw   syscall.RawConn // outer's
	inner int
}

// init prepares waits for an epoll set.
func (w *pollerWait) init(epoll int) error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("mesh: epoll: %w", err)
	}
	// The runtime doesn't poll blocking files.
	if err = unix.SetNonblock(fd, true); err == nil {
		err = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, epoll, &unix.EpollEvent{})
	}
	if err != nil {
		unix.Close(fd)
		return fmt.Errorf("mesh: epoll: %w", err)
	}
	w.inner = epoll
	w.outer = os.NewFile(uintptr(fd), "epoll")
	if w.raw, err = w.outer.SyscallConn(); err == nil {
		err = w.outer.SetReadDeadline(time.Time{}) // fails if the runtime doesn't poll it
	}
	if err != nil {
		w.outer.Close()
		return fmt.Errorf("mesh: epoll: %w", err)
	}
	return nil
}

// wait returns when ready says yes, or when the time is up (negative: no limit). It asks ready at
// first, and then whenever the inner set may have become ready. It may return early.
func (w *pollerWait) wait(limit time.Duration, ready func() bool) {
	var deadline time.Time
	if limit >= 0 {
		deadline = time.Now().Add(limit)
	}
	// Any error is an early return, as is the end of the time.
	_ = w.outer.SetReadDeadline(deadline)
	_ = w.raw.Read(func(outer uintptr) bool {
		w.watch(int(outer), unix.EPOLLIN)
		return ready()
	})
	_ = w.raw.Control(func(outer uintptr) { w.watch(int(outer), 0) })
}

func (w *pollerWait) watch(outer int, events uint32) {
	// It can only fail for a descriptor that isn't in the set.
	_ = unix.EpollCtl(outer, unix.EPOLL_CTL_MOD, w.inner, &unix.EpollEvent{Events: events})
}

func (w *pollerWait) close() { w.outer.Close() }
