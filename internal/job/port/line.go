package port

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// maxMessage bounds a message in bytes: the business cards of some thousand processes.
const maxMessage = 4 << 20

// Line is a connection between the leaders of two groups. Each says what it has to say in
// messages, one JSON value each.
type Line struct {
	conn net.Conn
	once sync.Once
}

// NewLine makes one end of a line of a connection, which it owns from now on.
func NewLine(conn net.Conn) *Line { return &Line{conn: conn} }

// Close ends the line.
func (l *Line) Close() error {
	var err error
	l.once.Do(func() { err = l.conn.Close() })
	return err
}

// Say sends a message.
func (l *Line) Say(m any) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b) > maxMessage {
		return fmt.Errorf("a message of %d bytes is too long for the other side", len(b))
	}
	_, err = l.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return ended(err)
}

// Hear waits for the next message.
func (l *Line) Hear(m any) error {
	b, err := read(l.conn)
	if err != nil {
		return ended(err)
	}
	return decode(b, m)
}

// Exchange says something and hears the other side, which must do the same, within a limit.
func (l *Line) Exchange(own, theirs any, limit time.Duration) error {
	l.conn.SetDeadline(time.Now().Add(limit))
	defer l.conn.SetDeadline(time.Time{})
	said := make(chan error, 1) // both may have more to say than the system keeps
	go func() { said <- l.Say(own) }()
	if err := l.Hear(theirs); err != nil {
		return err
	}
	return <-said
}

// read reads a message.
func read(from io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxMessage {
		return nil, fmt.Errorf("the other side sends a message of %d bytes, and this one takes %d at most", n, maxMessage)
	}
	b := make([]byte, 0, min(n, 64<<10))
	for len(b) < int(n) { // memory only for what comes
		from64 := min(int(n)-len(b), 64<<10)
		b = append(b, make([]byte, from64)...)
		if _, err := io.ReadFull(from, b[len(b)-from64:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// decode reads the value of a message.
func decode(b []byte, m any) error {
	if err := json.Unmarshal(b, m); err != nil {
		return fmt.Errorf("the other side sends what this one can't understand: %w", err)
	}
	return nil
}

// ErrEnded says that the other side has ended, or can't be reached any more.
var ErrEnded = errors.New("the process at the other side has ended, or can't be reached any more")

// ended is ErrEnded for an error of the connection.
func ended(err error) error {
	var e net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Timeout():
		return ErrLate
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, new(*net.OpError)), errors.Is(err, net.ErrClosed):
		return ErrEnded
	}
	return err
}

// ErrLate says that it took too long.
var ErrLate = errors.New("the other side hasn't come in time")
