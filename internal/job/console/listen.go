package console

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Listener is a job's socket.
type Listener struct {
	unix   *net.UnixListener
	server *Server
	done   chan struct{}
}

// Listen makes the socket of the job whose description the server has, and has the server answer
// on it until it is closed.
func (f Folder) Listen(s *Server) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: f.socket(s.Info().Name), Net: "unix"})
	if err != nil {
		return err
	}
	listener := &Listener{l, s, make(chan struct{})}
	s.mu.Lock()
	s.listener = listener
	s.mu.Unlock()
	go listener.accept()
	return nil
}

// Close removes the socket.
func (l *Listener) Close() {
	l.unix.Close() // which removes the file
	<-l.done
}

// acceptPause is how long accept waits when it can't have a descriptor.
const acceptPause = 50 * time.Millisecond

func (l *Listener) accept() {
	defer close(l.done)
	for {
		conn, err := l.unix.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
			continue
		}
		if err := sameUser(conn); err != nil {
			refuse(conn, err)
			continue
		}
		go l.server.Serve(conn)
	}
}

// refuse says why a connection isn't answered, without waiting.
func refuse(conn *net.UnixConn, why error) {
	f := Frame{Kind: Refusal, Text: why.Error()}
	conn.SetWriteDeadline(time.Now().Add(acceptPause))
	conn.Write(f.Append(nil))
	conn.Close()
}

// sameUser returns an error if the other side is a process of another user.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	if e := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return e
	}
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("the job belongs to another user (you are %d)", peer.Uid)
	}
	return nil
}
