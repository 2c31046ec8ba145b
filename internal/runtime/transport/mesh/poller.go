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

// poller is the epoll set, and what wakes a thread that waits on it. All events
// but the alarm are level-triggered: what one thread saw and didn't handle, another
// sees. The alarm is edge-triggered, which spares reading it; who takes its edge
// from one who waits passes it on.
//
// No alarm is missed: who wakes sets woken, then looks whether somebody waits;
// who waits says so, then looks at woken. At least one sees the other.
type poller struct {
	epoll     int
	alarm     int // an eventfd, never read
	bed       bed
	doorbells *shm.Doorbells // nil: no shared memory
	waiting   atomic.Bool
	stirred   atomic.Bool // a wait has seen something else than the alarm
	woken     atomic.Bool // wake was called, no wait has ended by it yet
	entry     sync.Mutex  // held by the one in wait

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
		err = p.bed.make(p.epoll)
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

// alsoWritable has a socket watched for room, too, or no longer.
func (p *poller) alsoWritable(fd int, of proto.Proc, on bool) {
	events := uint32(unix.EPOLLIN)
	if on {
		events |= unix.EPOLLOUT
	}
	// It can only fail for a descriptor that isn't in the set.
	unix.EpollCtl(p.epoll, unix.EPOLL_CTL_MOD, fd, event(aSocket, of, events))
}

// removeAndClose forgets a descriptor. Closing alone wouldn't do: a forked child
// may hold the open file, which keeps it in the set.
func (p *poller) removeAndClose(fd int) {
	unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, fd, nil)
	unix.Close(fd)
}

func (p *poller) remove(fd int) { unix.EpollCtl(p.epoll, unix.EPOLL_CTL_DEL, fd, nil) }

// poll returns what's ready now, valid until the next poll.
func (p *poller) poll() []unix.EpollEvent {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll),
		uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), 0, 0, 0)
	if errno != 0 {
		return nil
	}
	return p.events[:n]
}

// wait blocks until something is ready, wake, or the limit.
func (p *poller) wait(limit time.Duration) {
	p.entry.Lock()
	defer p.entry.Unlock()
	if p.lieDown() {
		p.note(p.block(limit))
	}
	p.getUp()
}

// lieDown says that somebody waits, and whether that is still called for.
func (p *poller) lieDown() bool {
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

// getUp says that nobody waits any more.
func (p *poller) getUp() {
	if p.doorbells != nil {
		p.doorbells.Sleep(false)
	}
	p.waiting.Store(false)
	p.woken.Store(false)
}

// doze is wait for one who waits long and often; see bed.
func (p *poller) doze(limit time.Duration) {
	p.entry.Lock()
	defer p.entry.Unlock()
	if p.lieDown() {
		p.bed.sleep(limit, func() bool {
			n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll),
				uintptr(unsafe.Pointer(&p.seen[0])), uintptr(len(p.seen)), 0, 0, 0)
			if errno != 0 {
				return true
			}
			p.note(int(n))
			return n > 0
		})
	}
	p.getUp()
}

// block waits for events and returns how many there are in seen. An error, EINTR
// say, is an early return.
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

// note has the next Poll look at what else than the alarm is among the first n
// events seen.
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

// passOn sounds the alarm if somebody waits.
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
	p.bed.close()
	p.epoll, p.alarm, p.doorbells = -1, -1, nil
	p.entry.Unlock()
}
