package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"banyan/internal/proto"
)

// Meeting is a place where the processes of a job meet for something else than frames. Who
// comes proves that it belongs to the job as it would for a link, and so does the host.
// The numbers need not be those of Procs: they say who is meant in this meeting.
type Meeting struct {
	Self   proto.Proc
	Secret []byte // the job's
}

// meetingTag stands in a handshake where the job's name does: a link and a meeting
// aren't taken for each other.
var meetingTag = [16]byte{'m', 'e', 'e', 't', 'i', 'n', 'g'}

// keepAlive finds out in some 10 s that a host of the meeting has vanished.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

func (m Meeting) party() *party {
	return &party{self: m.Self, job: meetingTag, secret: m.Secret, min: minVersion, max: maxVersion}
}

// Dial comes to a meeting at an address, of which to is the host. It takes at most
// handshakeLimit.
func (m Meeting) Dial(ctx context.Context, address string, to proto.Proc) (net.Conn, error) {
	d := net.Dialer{Timeout: handshakeLimit, KeepAliveConfig: keepAlive}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(handshakeLimit))
	v, _, err := m.party().dial(conn, to, 0, toMeet)
	if err == nil && v != accepted {
		err = fmt.Errorf("refused: %v", v)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("meeting at %s: %w", address, err)
	}
	conn.SetDeadline(time.Time{})
	return conn, nil
}

// Door is a meeting's, at its host's.
type Door struct {
	meeting Meeting
	socket  net.Listener
	gate    gate
}

// Listen opens the door at the address, or the name of one, by which others reach this process.
func (m Meeting) Listen(host string) (*Door, error) {
	if len(m.Secret) < MinSecret {
		return nil, fmt.Errorf("mesh: a secret of %d bytes, at least %d are needed", len(m.Secret), MinSecret)
	}
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	socket, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("mesh: %w", err)
	}
	return &Door{meeting: m, socket: socket}, nil
}

// Address is where others find the door.
func (d *Door) Address() string { return d.socket.Addr().String() }

// Serve calls meet with each connection of a process of the job, on a goroutine of its own,
// until the door is closed. Strangers are refused, and refused is told why.
func (d *Door) Serve(meet func(conn net.Conn, from proto.Proc), refused func(error)) {
	d.gate.open(context.Background(), d.socket, func(conn net.Conn) {
		conn.SetDeadline(time.Now().Add(handshakeLimit))
		h, v, err := d.meeting.party().accept(conn, func(h *hello) verdict {
			if h.purpose != toMeet {
				return goneHere
			}
			return accepted
		})
		if err == nil && v != accepted {
			err = errors.New("it wants something else")
		}
		if err != nil {
			conn.Close()
			refused(fmt.Errorf("meeting: %v: %w", conn.RemoteAddr(), err))
			return
		}
		conn.SetDeadline(time.Time{})
		go meet(conn, h.from)
	}, refused)
}

// Close closes the door. Who is in may stay.
func (d *Door) Close() error { return d.socket.Close() }
