package join

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/port"
	"banyan/internal/runtime/connection"
)

// joinLimit bounds how long each step of a meeting over a socket may take.
const joinLimit = time.Minute

// JoinOver meets the process at the other end of a socket (MPI_Comm_join). Both send a random
// number. The one with the higher opens a port and sends its name, and the other one calls there.
// Nothing that is sent on the socket is left unread. The socket isn't encrypted: who reads it
// knows the port's secret, and can call in the other's place. accepts says which side this
// process is.
func (j *Job) JoinOver(fd int) (line connection.Line, accepts bool, err error) {
	if err := j.CanConnect(); err != nil {
		return nil, false, err
	}
	wrong := func(err error) error {
		kind := connection.BadArg
		if errors.Is(err, io.ErrUnexpectedEOF) {
			kind = connection.PeerDied
		}
		return &connection.Failure{Kind: kind, Text: fmt.Sprintf("the socket %d: %v", fd, err)}
	}
	s := socket{fd, time.Now().Add(joinLimit)}
	own, theirs := make([]byte, 16), make([]byte, 16)
	rand.Read(own)
	if err := s.write(own); err != nil {
		return nil, false, wrong(err)
	}
	if err := s.read(theirs); err != nil {
		return nil, false, wrong(err)
	}
	name := make([]byte, port.MaxName)
	if bytes.Compare(own, theirs) < 0 {
		if err := s.read(name); err != nil {
			return nil, false, wrong(err)
		}
		line, err := j.CallAt(string(bytes.TrimRight(name, "\x00")), joinLimit)
		return line, false, err
	}
	address, _ := farAddress()
	p, err := port.Open(address)
	if err != nil {
		return nil, true, &connection.Failure{Kind: connection.NoSystem, Text: err.Error()}
	}
	defer p.Close()
	copy(name, p.Name())
	if err := s.write(name); err != nil {
		return nil, true, wrong(err)
	}
	met, err := p.Accept(joinLimit)
	if err != nil {
		return nil, true, portFailure(err)
	}
	return met, true, nil
}

// socket is a socket of the program, which may be blocking or not.
type socket struct {
	fd       int
	deadline time.Time
}

// await waits until the socket can be read from, or written to.
func (s socket) await(events int16) error {
	if s.fd < 0 {
		return unix.EBADF // poll would wait
	}
	for {
		left := time.Until(s.deadline)
		if left <= 0 {
			return port.ErrLate
		}
		polled := []unix.PollFd{{Fd: int32(s.fd), Events: events}}
		n, err := unix.Poll(polled, int(left.Milliseconds())+1)
		switch {
		case err == unix.EINTR || err == nil && n == 0:
		case err != nil:
			return err
		case polled[0].Revents&unix.POLLNVAL != 0:
			return unix.EBADF
		default:
			return nil
		}
	}
}

func (s socket) write(b []byte) error {
	for len(b) > 0 {
		if err := s.await(unix.POLLOUT); err != nil {
			return err
		}
		n, err := unix.SendmsgN(s.fd, b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
		case err == unix.EPIPE || err == unix.ECONNRESET:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		default:
			b = b[n:]
		}
	}
	return nil
}

func (s socket) read(b []byte) error {
	for len(b) > 0 {
		if err := s.await(unix.POLLIN); err != nil {
			return err
		}
		n, _, err := unix.Recvfrom(s.fd, b, unix.MSG_DONTWAIT)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
		case err == unix.ECONNRESET || err == nil && n == 0:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		default:
			b = b[n:]
		}
	}
	return nil
}
