package mesh

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bed lets a goroutine wait for an epoll set parked in the runtime's poller.
//
// That takes longer to begin and to end than a system call that blocks. But for
// one that blocks, the runtime has a thread look every 20 µs for a millisecond or
// more, which in an otherwise idle process costs more than everything else
// together: of a hundred heartbeats a second, half.
//
// The runtime watches a second set that has the first one as its only member,
// and only while somebody sleeps: otherwise each frame would wake one of its
// threads, also when the program itself polls.
type bed struct {
	outer *os.File
	raw   syscall.RawConn // outer's
	inner int
}

// make makes the bed for an epoll set.
func (b *bed) make(epoll int) error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("mesh: epoll: %w", err)
	}
	// The runtime leaves files alone that block.
	if err = unix.SetNonblock(fd, true); err == nil {
		err = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, epoll, &unix.EpollEvent{})
	}
	if err != nil {
		unix.Close(fd)
		return fmt.Errorf("mesh: epoll: %w", err)
	}
	b.inner = epoll
	b.outer = os.NewFile(uintptr(fd), "epoll")
	if b.raw, err = b.outer.SyscallConn(); err == nil {
		err = b.outer.SetReadDeadline(time.Time{}) // does the runtime have it?
	}
	if err != nil {
		b.outer.Close()
		return fmt.Errorf("mesh: epoll: %w", err)
	}
	return nil
}

// sleep returns when ready says yes, which is asked at first and then whenever
// the inner set may have become ready, or when the time is up (negative: no
// limit). It may return early.
func (b *bed) sleep(limit time.Duration, ready func() bool) {
	var deadline time.Time
	if limit >= 0 {
		deadline = time.Now().Add(limit)
	}
	// Any error is an early return, as is the end of the time.
	_ = b.outer.SetReadDeadline(deadline)
	_ = b.raw.Read(func(outer uintptr) bool {
		b.watch(int(outer), unix.EPOLLIN)
		return ready()
	})
	_ = b.raw.Control(func(outer uintptr) { b.watch(int(outer), 0) })
}

func (b *bed) watch(outer int, events uint32) {
	// It can only fail for a descriptor that isn't in the set.
	_ = unix.EpollCtl(outer, unix.EPOLL_CTL_MOD, b.inner, &unix.EpollEvent{Events: events})
}

func (b *bed) close() { b.outer.Close() }
