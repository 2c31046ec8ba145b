package shm

import (
	"bytes"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// newOwn makes a process's Own.
func newOwn(t *testing.T, self proto.Proc, procs int) Own {
	t.Helper()
	doorbells, err := NewDoorbells(procs)
	if err != nil {
		t.Fatal(err)
	}
	alarm, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		doorbells.Close()
		unix.Close(alarm)
	})
	return Own{Self: self, Procs: procs, Doorbells: doorbells, Alarm: alarm}
}

// sockets is a connected pair of sockets.
func sockets(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	conns := make([]*net.UnixConn, 2)
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		c, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = c.(*net.UnixConn)
		conns[i].SetDeadline(time.Now().Add(10 * time.Second))
		t.Cleanup(func() { c.Close() })
	}
	return conns[0], conns[1]
}

func TestLink(t *testing.T) {
	const procs = 70
	near, far := newOwn(t, 2, procs), newOwn(t, 69, procs)
	a, b := sockets(t)
	var offered, accepted *Link
	var offerErr, acceptErr error
	var both sync.WaitGroup
	both.Go(func() { offered, offerErr = Offer(a, near) })
	both.Go(func() { accepted, acceptErr = Accept(b, far) })
	both.Wait()
	if offerErr != nil || acceptErr != nil {
		t.Fatal(offerErr, acceptErr)
	}
	defer accepted.Close()

	far.Doorbells.Sleep(true)
	if !offered.Out.Frame(&wire.Header{Kind: wire.KindDone}, nil) {
		t.Fatal("no room")
	}
	offered.Ring()
	offered.Ring()
	count := make([]byte, 8)
	if n, _ := unix.Read(far.Alarm, count); n != 8 || !bytes.Equal(count, []byte{1, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("the sleeper was woken with %v, want once", count[:max(n, 0)])
	}
	if rings := far.Doorbells.Word(0); rings != 1<<2 || !far.Doorbells.Any() {
		t.Errorf("the doorbells %#b ring, want that of 2", rings)
	}
	far.Doorbells.Stop(2)
	if far.Doorbells.Any() {
		t.Error("a doorbell that was stopped rings")
	}
	near.Doorbells.Revoke()
	if accepted.Revoked() != 1 || offered.Revoked() != 0 {
		t.Errorf("revoked %d and %d times", accepted.Revoked(), offered.Revoked())
	}
	offered.Close()
	var in Inbound
	if found, err := accepted.In.Next(&in); found != Frame || err != nil || in.Header.Kind != wire.KindDone {
		t.Errorf("of one that has closed: %v, %v", found, err)
	}
}

// Wrong descriptors are refused, and closed.
func TestForeignDescriptors(t *testing.T) {
	memory := func(size int, sealed bool) int {
		fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		unix.Ftruncate(fd, int64(size))
		if sealed {
			unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		}
		return fd
	}
	null, _ := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	event, _ := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	good, page := memory(pageSize+2*minRing, true), memory(pageSize, true)
	before := openFiles(t)
	for name, fds := range map[string][]int{
		"nothing":            {},
		"too few":            {good},
		"too many":           {good, page, event, null},
		"no memory":          {null, page, event},
		"unsealed":           {memory(pageSize+2*minRing, false), page, event},
		"too small":          {memory(pageSize, true), page, event},
		"not a power":        {memory(pageSize+3*minRing, true), page, event},
		"other doorbells":    {good, memory(2*pageSize, true), event},
		"unsealed doorbells": {good, memory(pageSize, false), event},
		"a blocking alarm":   {good, page, null},
	} {
		own := newOwn(t, 0, 2)
		a, b := sockets(t)
		sendDescriptors(a, fds...)
		if l, err := Accept(b, own); err == nil {
			l.Close()
			t.Errorf("%s: accepted", name)
		}
		a.Close()
		b.Close()
		own.Doorbells.Close()
		unix.Close(own.Alarm)
		for _, fd := range fds {
			if fd != good && fd != page && fd != event && fd != null {
				unix.Close(fd)
			}
		}
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	closeAll(null, event, good, page)
}

// No process can shrink memory that others have mapped.
func TestSealed(t *testing.T) {
	p, fd, err := NewPair(RingSize(2))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	defer p.Close()
	if err := unix.Ftruncate(fd, 0); err == nil {
		t.Error("the memory can be made smaller")
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); err == nil {
		t.Error("the memory can be made read-only")
	}
}

func TestRingSize(t *testing.T) {
	for _, procs := range []int{1, 2, 31, 32, 33, 64, 128, 1000, 4096} {
		size := RingSize(procs)
		if size < minRing || size > maxRing || size&(size-1) != 0 || size > minRing && size*procs > ringBudget {
			t.Errorf("%d processes: rings of %d bytes", procs, size)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
