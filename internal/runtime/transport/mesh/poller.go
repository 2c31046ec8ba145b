package mesh

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport/shm"
)

// subject is what a descriptor in the epoll set is.
type subject int32

const (
	aSocket subject = iota
	aPidfd
	theAlarm
)

// poller is the epoll set, and what wakes a thread that waits on it. All events but the alarm are
// level-triggered: what one thread saw and didn't handle, another sees. The alarm is
// edge-triggered, so nobody has to read it; a thread that takes its edge from a waiting one
// passes it on.
//
// No alarm is missed. A waking thread sets woken, then checks whether a thread waits. A waiting
// thread sets waiting, then checks woken. At least one of them sees the other.
type poller struct {
	epoll     int
	alarm     int // an eventfd, never read
	long      pollerWait
	doorbells *shm.Doorbells // nil: no shared memory
	waiting   atomic.Bool
	stirred   atomic.Bool // a wait has seen something else than the alarm
	woken     atomic.Bool // wake was called, and no wait has ended by it yet
	entry     sync.Mutex  // held by the thread in wait

	ring   sync.Mutex // orders the use of alarm and its close
	closed bool

	events [64]unix.EpollEvent // of poll
	seen   [8]unix.EpollEvent  // of wait
}

func newPoller() (*poller, error) {
	p := &poller{}
	var err error
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("mesh: epoll: %w", err)
	}
	if p.alarm, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(p.epoll)
		return nil, fmt.Errorf("mesh: eventfd: %w", err)
	}
	err = unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, p.alarm, event(theAlarm, proto.NoProc, unix.EPOLLIN|unix.EPOLLET))
	if err == nil {
		err = p.long.init(p.epoll)
	}
	if err != nil {
		unix.Close(p.epoll)
		unix.Close(p.alarm)
		return nil, err
	}
	return p, nil
}

func event(what subject, of proto.Proc, events uint32) *unix.EpollEvent {
	return &unix.EpollEvent{Events: events, Fd: int32(of), Pad: int32(what)}
}

// add watches a descriptor for something to read.
func (p *poller) add(fd int, what subject, of proto.Proc) error {
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, event(what, of, unix.EPOLLIN)); err != nil {
		return fmt.Errorf("mesh: watch %v: %w", of, err)
	}
	return nil
}

// alsoWritable watches a socket for room, too, or stops watching it for that.
func (p *poller) alsoWritable(fd int, of proto.Proc, on bool) {
	events := uint32(unix.EPOLLIN)
	if on {
		events |= unix.EPOLLOUT
	}
	// It can only fail for a descriptor that isn't in the set.
	unix.EpollCtl(p.epoll, unix.EPOLL_CTL_MOD, fd, event(aSocket, of, events))
}

// removeAndClose forgets a descriptor. Closing isn't enough: a forked child may hold the open
// file, which keeps it in the set.
func (p *poller) removeAndClose(fd int) {
	unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, fd, nil)
	unix.Close(fd)
}

func (p *poller) remove(fd int) { unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, fd, nil) }

// poll returns what is ready now. The result is valid until the next poll.
func (p *poller) poll() []unix.EpollEvent {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll),
		uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), 0, 0, 0)
	if errno != 0 {
		return nil
	}
	return p.events[:n]
}

// wait blocks until something is ready, wake is called, or the limit is over.
func (p *poller) wait(limit time.Duration) {
	p.entry.Lock()
	defer p.entry.Unlock()
	if p.beginWait() {
		p.note(p.block(limit))
	}
	p.endWait()
}

// beginWait announces that a thread waits. It returns false if there is something to do already.
func (p *poller) beginWait() bool {
	p.waiting.Store(true)
	if p.woken.Load() {
		return false
	}
	if p.doorbells == nil {
		return true
	}
	p.doorbells.Sleep(true)
	return !p.doorbells.Any()
}

// endWait announces that no thread waits any more.
func (p *poller) endWait() {
	if p.doorbells != nil {
		p.doorbells.Sleep(false)
	}
	p.waiting.Store(false)
	p.woken.Store(false)
}

// doze is wait for a thread that waits long and often; see pollerWait.
func (p *poller) doze(limit time.Duration) {
	p.entry.Lock()
	defer p.entry.Unlock()
	if p.beginWait() {
		p.long.wait(limit, func() bool {
			n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll),
				uintptr(unsafe.Pointer(&p.seen[0])), uintptr(len(p.seen)), 0, 0, 0)
			if errno != 0 {
				return true
			}
			p.note(int(n))
			return n > 0
		})
	}
	p.endWait()
}

// block waits for events and returns how many there are in seen. It returns early after an error
// such as EINTR.
func (p *poller) block(limit time.Duration) int {
	var until *unix.Timespec
	if limit >= 0 {
		span := unix.NsecToTimespec(int64(limit))
		until = &span
	}
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.seen[0])),
		uintptr(len(p.seen)), uintptr(unsafe.Pointer(until)), 0, 0)
	switch errno {
	case 0:
		return int(n)
	case unix.ENOSYS: // before Linux 5.11
		span := -1
		if limit >= 0 {
			span = int(min((limit+time.Millisecond-1)/time.Millisecond, 1<<30))
		}
		n, _ := unix.EpollWait(p.epoll, p.seen[:], span)
		return n
	}
	return 0
}

// note makes the next Poll ask the set if anything else than the alarm is among the first n events
// seen.
func (p *poller) note(n int) {
	for i := range max(n, 0) {
		if subject(p.seen[i].Pad) != theAlarm {
			p.stirred.Store(true)
		}
	}
}

// wake ends a wait.
func (p *poller) wake() {
	p.woken.Store(true)
	p.passOn()
}

// passOn sounds the alarm if a thread waits.
func (p *poller) passOn() {
	if !p.waiting.Load() {
		return
	}
	p.ring.Lock()
	defer p.ring.Unlock()
	if !p.closed {
		unix.Write(p.alarm, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// close ends the present wait and all further ones.
func (p *poller) close() {
	for p.wake(); !p.entry.TryLock(); p.wake() {
		time.Sleep(10 * time.Microsecond)
	}
	p.ring.Lock()
	p.closed = true
	p.ring.Unlock()
	p.woken.Store(true)
	unix.Close(p.alarm)
	unix.Close(p.epoll)
	p.long.close()
	p.epoll, p.alarm, p.doorbells = -1, -1, nil
	p.entry.Unlock()
}
