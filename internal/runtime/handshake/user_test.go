package handshake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asUser runs f on a thread that another user has.
func asUser(uid int, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			panic(errno)
		}
		f()
	}()
	<-done
}

// At a unix socket a process of another user isn't greeted, however often it comes, and those of
// this user are, as many as there are.
func TestOtherUsers(t *testing.T) {
	name := fmt.Sprintf("@banyan-test-%s-%d", t.Name(), os.Getpid()) // another run may be under way
	socket, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	greeted, refused := make(chan net.Conn, 3*MaxPending), make(chan error, 1000)
	served := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(served)
		new(Gate).Serve(ctx, socket, func(conn net.Conn, _ func()) {
			defer conn.Close()
			greeted <- conn
			io.Copy(io.Discard, conn)
		}, func(err error) { refused <- err })
	}()
	defer func() { cancel(); socket.Close(); <-served }()
	if os.Geteuid() == 0 {
		asUser(65534, func() {
			for range 500 {
				fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
				if err == nil {
					err = unix.Connect(fd, &unix.SockaddrUnix{Name: name})
				}
				if err != nil {
					t.Error(err)
					return
				}
				defer unix.Close(fd)
			}
		})
		for range 500 {
			if err := <-refused; !errors.Is(err, ErrStranger) {
				t.Fatal(err)
			}
		}
		if len(greeted) > 0 {
			t.Errorf("%d connections of another user are greeted", len(greeted))
		}
	}
	for range 3 * MaxPending {
		conn, err := net.Dial("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for range 3 * MaxPending {
		select {
		case <-greeted:
		case <-time.After(20 * time.Second):
			t.Fatal("a connection of this user isn't greeted")
		}
	}
}
