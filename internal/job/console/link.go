package console

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// Silence is how long a side may say nothing before it is taken for gone. A side sends a Beat
	// every beatPeriod.
	Silence    = 10 * time.Second
	beatPeriod = 2 * time.Second
)

// link sends and receives frames on a connection. One goroutine receives; several may send.
type link struct {
	conn net.Conn
	from *bufio.Reader
	body []byte

	mu  sync.Mutex
	out []byte // scratch
}

func newLink(conn net.Conn) *link { return &link{conn: conn, from: bufio.NewReader(conn)} }

// send sends a frame. limit bounds the wait for the other side to read; 0: as long as the
// connection lasts.
func (l *link) send(f *Frame, limit time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = f.Append(l.out[:0])
	if len(l.out) > MaxFrame+headSize {
		return fmt.Errorf("a frame has at most %d bytes, and this one %d", MaxFrame, len(l.out)-headSize)
	}
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	l.conn.SetWriteDeadline(until)
	_, err := l.conn.Write(l.out)
	return err
}

// receive receives a frame, whose Data is valid until the next one. It waits at most for Silence.
func (l *link) receive() (Frame, error) {
	l.conn.SetReadDeadline(time.Now().Add(Silence))
	var head [headSize]byte
	if _, err := io.ReadFull(l.from, head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > MaxFrame {
		return Frame{}, fmt.Errorf("%w: it has %d bytes", ErrCorrupt, n)
	}
	if uint32(cap(l.body)) < n {
		l.body = make([]byte, n)
	}
	l.body = l.body[:n]
	if _, err := io.ReadFull(l.from, l.body); err != nil {
		return Frame{}, err
	}
	return Parse(l.body)
}

// greet exchanges the first frames.
func (l *link) greet() error {
	wrong := l.send(&Frame{Kind: Hello, Number: Version}, Silence)
	f, err := l.receive() // it may be a refusal that came before our Hello could leave
	if err != nil && wrong != nil {
		err = wrong
	}
	switch {
	case err != nil:
		return err
	case f.Kind == Refusal:
		return errors.New(f.Text)
	case f.Kind != Hello:
		return ErrCorrupt
	case f.Number != Version:
		return fmt.Errorf("the job's launcher is of another build (it speaks version %d, this command version %d)", f.Number, Version)
	}
	return nil
}

// beat sends beats until stop is closed or the connection ends.
func (l *link) beat(stop <-chan struct{}) {
	ticker := time.NewTicker(beatPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			if l.send(&Frame{Kind: Beat}, 0) != nil {
				return
			}
		}
	}
}
