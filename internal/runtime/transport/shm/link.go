package shm

import (
	"errors"
	"fmt"
	"io"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// Own is what a process shares with each peer.
type Own struct {
	Self      proto.Proc
	Procs     int // in the job
	Doorbells *Doorbells
	Alarm     int // an eventfd that ends the process's wait
}

// Link is what a process shares with one peer.
type Link struct {
	Pair
	doorbells *Doorbells // the peer's
}

// Offer makes the rings, and exchanges descriptors with the peer at the other end of a
// connection, which calls Accept.
func Offer(conn *net.UnixConn, own Own) (*Link, error) {
	pair, fd, err := NewPair(RingSize(own.Procs))
	if err != nil {
		return nil, err
	}
	err = sendDescriptors(conn, fd, own.Doorbells.fd, own.Alarm)
	unix.Close(fd)
	if err != nil {
		pair.Close()
		return nil, err
	}
	fds, err := receiveDescriptors(conn, 2)
	if err != nil {
		pair.Close()
		return nil, err
	}
	return newLink(pair, own, fds[0], fds[1])
}

// Accept is the other side of Offer.
func Accept(conn *net.UnixConn, own Own) (*Link, error) {
	fds, err := receiveDescriptors(conn, 3)
	if err != nil {
		return nil, err
	}
	pair, err := OpenPair(fds[0])
	unix.Close(fds[0])
	if err == nil {
		if err = sendDescriptors(conn, own.Doorbells.fd, own.Alarm); err != nil {
			pair.Close()
		}
	}
	if err != nil {
		closeAll(fds[1:]...)
		return nil, err
	}
	return newLink(pair, own, fds[1], fds[2])
}

// newLink takes over the pair and the descriptors.
func newLink(pair *Pair, own Own, doorbells, alarm int) (*Link, error) {
	b, err := openDoorbells(doorbells, own.Procs)
	unix.Close(doorbells)
	if err == nil && !nonBlocking(alarm) {
		b.Close()
		err = errForeign
	}
	if err != nil {
		unix.Close(alarm)
		pair.Close()
		return nil, err
	}
	pair.bell, pair.bit, pair.asleep, pair.alarm = &b.words[own.Self/64], 1<<(own.Self%64), &b.page.asleep, int32(alarm)
	return &Link{Pair: *pair, doorbells: b}, nil
}

func nonBlocking(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK != 0
}

// Ring tells the peer that there is something for it, and wakes the peer if it waits.
func (l *Link) Ring() {
	e := l.Ends
	if e.bell.Load()&e.bit == 0 {
		e.bell.Or(e.bit)
	}
	e.rouse()
}

// Nudge wakes the peer, whose number is given, if it waits, or keeps it from waiting next, although
// nothing is in the rings.
func (l *Link) Nudge(peer proto.Proc) {
	l.doorbells.Ring(peer)
	l.Ends.rouse()
}

// rouse wakes the peer if it waits.
func (e *Ends) rouse() {
	if rouse(e.asleep) {
		one := uint64(1)
		unix.RawSyscall(unix.SYS_WRITE, uintptr(e.alarm), uintptr(unsafe.Pointer(&one)), 8)
	}
}

// Revoked is how often the peer has called Revoke.
func (l *Link) Revoked() uint64 { return l.doorbells.Revoked() }

// Attends says what the peer has announced by Attend.
func (l *Link) Attends() bool { return l.doorbells.Attends() }

// Close ends this side of a link. The peer can still read what is in the rings.
func (l *Link) Close() {
	if l.Ends == nil {
		return
	}
	closeAll(int(l.alarm))
	l.Pair.Close()
	l.doorbells.Close()
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// sendDescriptors hands over descriptors, with one byte, because a message must have a byte.
func sendDescriptors(conn *net.UnixConn, fds ...int) error {
	_, _, err := conn.WriteMsgUnix([]byte{byte(len(fds))}, unix.UnixRights(fds...), nil)
	if err != nil {
		return fmt.Errorf("shm: hand over: %w", err)
	}
	return nil
}

// receiveDescriptors takes over exactly count descriptors.
func receiveDescriptors(conn *net.UnixConn, count int) ([]int, error) {
	var text [1]byte
	control := make([]byte, unix.CmsgSpace(4*8))
	n, size, flags, _, err := conn.ReadMsgUnix(text[:], control)
	if err != nil {
		return nil, fmt.Errorf("shm: take over: %w", err)
	}
	var fds []int
	messages, err := unix.ParseSocketControlMessage(control[:size])
	for i := range messages {
		rights, _ := unix.ParseUnixRights(&messages[i])
		fds = append(fds, rights...)
	}
	if err == nil && n == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && (n != 1 || len(fds) != count || flags&unix.MSG_CTRUNC != 0) {
		err = errors.New("not the descriptors expected")
	}
	if err != nil {
		closeAll(fds...)
		return nil, fmt.Errorf("shm: take over: %w", err)
	}
	return fds, nil
}
