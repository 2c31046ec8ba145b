package handshake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/seal"
)

// Job is the protocol of a job's processes. Links (package mesh) and meetings both speak it.
var Job = &Protocol{
	Name:  "banyan handshake",
	Magic: [8]byte{'B', 'A', 'N', 'Y', 'A', 'N', '\r', '\n'},
	Min:   1, Max: 1,
	Framing: Framing{Hello: 92, Answer: 8},
}

// meetingLimit bounds a dialler's attempt to connect to a meeting, and a host's wait for a proof.
const meetingLimit = 5 * time.Second

// keepAlive makes a connection fail some 10 s after the other side's machine has vanished.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

// Meeting lets the processes of a job connect for something else than frames. Dialler and host
// prove that they belong to the job, as two ends of a link do. Their numbers need not be those of
// Procs: they say which dialler and which host of this meeting is meant.
type Meeting struct {
	Self   proto.Proc
	Secret []byte // the job's
	// Sealing says which connections are sealed. All processes of the job have the same.
	Sealing seal.Policy
}

// meetingTag stands in a hello where a link's has the job's name, which is random. So a link and a
// meeting can't be taken for each other.
var meetingTag = [16]byte{'m', 'e', 'e', 't', 'i', 'n', 'g'}

// The meeting's values in the fields that a link's hello and answer begin with.
const (
	toMeet  = 5 // purpose
	welcome = 1 // verdict
	refused = 4 // verdict
	unlike  = 8 // verdict: the two sides differ in Sealing
)

// meetingHello is what a dialler says. The bytes after it, which tell of a link's end, are zero.
type meetingHello struct {
	purpose  byte
	sealing  seal.Wish
	tag      [16]byte
	from, to proto.Proc
}

func (h *meetingHello) encode() []byte {
	b := make([]byte, Job.Framing.Hello)
	b[0], b[1] = h.purpose, byte(h.sealing)
	copy(b[4:], h.tag[:])
	binary.LittleEndian.PutUint32(b[20:], uint32(h.from))
	binary.LittleEndian.PutUint32(b[24:], uint32(h.to))
	return b
}

func (h *meetingHello) decode(b []byte) {
	*h = meetingHello{
		purpose: b[0], sealing: seal.Wish(b[1]), tag: [16]byte(b[4:]),
		from: proto.Proc(binary.LittleEndian.Uint32(b[20:])),
		to:   proto.Proc(binary.LittleEndian.Uint32(b[24:])),
	}
}

// Dial connects to the meeting of a host at an address, within 5 s.
func (m Meeting) Dial(ctx context.Context, address string, host proto.Proc) (net.Conn, error) {
	d := &net.Dialer{KeepAliveConfig: keepAlive}
	conn, err := connect(ctx, d, address, meetingLimit, func(conn net.Conn) (net.Conn, error) { return m.dial(conn, host) })
	if err != nil {
		return nil, fmt.Errorf("meeting at %s: %w", address, err)
	}
	return conn, nil
}

// dial runs the handshake over a new connection, and seals it if it should be.
func (m Meeting) dial(conn net.Conn, host proto.Proc) (net.Conn, error) {
	hello := meetingHello{purpose: toMeet, sealing: m.Sealing.Wish(conn), tag: meetingTag, from: m.Self, to: host}
	var answer []byte
	var keys seal.Keys
	var err error
	if hello.sealing == seal.This {
		answer, keys, err = Job.DialSealed(conn, m.Secret, hello.encode())
	} else {
		answer, err = Job.Dial(conn, m.Secret, hello.encode())
	}
	switch {
	case err != nil:
		return nil, err
	case answer[0] == unlike:
		return nil, m.Sealing.Unlike()
	case answer[0] != welcome:
		return nil, fmt.Errorf("refused, verdict %d", answer[0])
	case hello.sealing == seal.This:
		return seal.NewConn(conn, keys), nil
	}
	return conn, nil
}

// Listener accepts the diallers of a meeting.
type Listener struct {
	meeting Meeting
	socket  net.Listener
	gate    Gate
}

// Listen makes this process a meeting's host. host is the address, or the name of one, by which
// others reach this process.
func (m Meeting) Listen(host string) (*Listener, error) {
	if len(m.Secret) < MinSecret {
		return nil, fmt.Errorf("meeting: a secret of %d bytes: at least %d are needed", len(m.Secret), MinSecret)
	}
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	socket, err := config.Listen(context.Background(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("meeting: %w", err)
	}
	return &Listener{meeting: m, socket: socket}, nil
}

// Address is where diallers reach the listener.
func (l *Listener) Address() string { return l.socket.Addr().String() }

// Serve calls meet with the connection of each dialler, on a goroutine of its own, until the
// listener is closed. It refuses strangers and passes the reason to refused.
func (l *Listener) Serve(meet func(conn net.Conn, from proto.Proc), refused func(error)) {
	l.gate.Serve(context.Background(), l.socket, func(conn net.Conn, _ func()) {
		talk, from, err := l.greet(conn)
		if err != nil {
			conn.Close()
			refused(fmt.Errorf("meeting: %v: %w", conn.RemoteAddr(), err))
			return
		}
		go meet(talk, from)
	}, refused)
}

// greet runs the handshake with a dialler. It returns the connection, sealed if it should be, and
// the dialler's number.
func (l *Listener) greet(conn net.Conn) (net.Conn, proto.Proc, error) {
	conn.SetDeadline(time.Now().Add(meetingLimit))
	defer conn.SetDeadline(time.Time{})
	var hello meetingHello
	sealed := func(b []byte) bool {
		hello.decode(b)
		return hello.sealing == seal.This
	}
	policy := l.meeting.Sealing
	keys, err := Job.AcceptSealed(conn, l.meeting.Secret, Judge{Suspect: l.suspect, Sealed: sealed, Answer: func([]byte) ([]byte, error) {
		answer := make([]byte, Job.Framing.Answer)
		answer[0] = welcome
		if hello.purpose != toMeet {
			answer[0] = refused
		} else if !policy.Agrees(hello.sealing) {
			answer[0] = unlike
		}
		return answer, nil
	}})
	switch {
	case err != nil:
	case hello.purpose != toMeet:
		err = errors.New("it wants something else")
	case !policy.Agrees(hello.sealing):
		err = policy.Unlike()
	case keys != nil:
		return seal.NewConn(conn, *keys), hello.from, nil
	}
	return conn, hello.from, err
}

// suspect says why a hello isn't for this meeting's host.
func (l *Listener) suspect(b []byte) error {
	var hello meetingHello
	hello.decode(b)
	expected := meetingHello{purpose: hello.purpose, sealing: hello.sealing, tag: meetingTag, from: hello.from, to: l.meeting.Self}
	// A link's hello has the acceptor's incarnation in these eight bytes.
	if hello != expected || !bytes.Equal(b[36:44], make([]byte, 8)) {
		return fmt.Errorf("hello: for host %d of a meeting %q: this is host %d", hello.to, hello.tag, l.meeting.Self)
	}
	return nil
}

// Close ends the listener. The connections that were accepted stay open.
func (l *Listener) Close() error { return l.socket.Close() }
