// Package control is the lifeline between "banyan run" and each process that it started. The
// launcher tells of certain deaths and of debuggers; a process tells what it knows and wants.
//
// The processes of a job don't depend on it. Under another launcher there is no lifeline (FromEnv
// returns nil), and deaths are known from the processes' own evidence and from silence. In a job
// with spare processes they speak the part of the protocol that is about recovery with the spare
// leader (package spares). The end of that connection ends no process.
//
// # The protocol
//
// Each side writes one JSON object a line, a Message, to a socket. The process inherits the
// socket as descriptor env.ControlFD. The order of the lines is the order of the events. No line
// is answered but Explain, and Finalized by the spare leader. Fields that a Type doesn't name are
// zero. A reader ignores unknown types and fields, so that either side may be newer.
//
// The end of the lifeline is news, too. If the launcher has gone, Receive returns io.EOF, and the
// process must exit: no other party cleans up behind it. If the process has gone, the launcher
// waits until the kernel reports its end, because a forked child may hold the socket.
package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"

	"banyan/internal/job/env"
)

// maxLine bounds a line in bytes, with its end.
const maxLine = 64 << 10

// maxText bounds Cause and Text in bytes, and maxCard bounds Card. So a line keeps its bound,
// however JSON escapes them.
const (
	maxText = 4 << 10
	maxCard = 1 << 10
)

// Conn is one end of a lifeline. Send may be called from several goroutines, Receive from one,
// both at the same time.
type Conn struct {
	rwc   io.ReadWriteCloser
	lines *bufio.Reader
	mu    sync.Mutex // of Send, so that lines don't mix
}

// NewConn makes one end of a lifeline. It owns the connection from now on.
func NewConn(rwc io.ReadWriteCloser) *Conn {
	return &Conn{rwc: rwc, lines: bufio.NewReaderSize(rwc, maxLine)}
}

// FromEnv returns the lifeline of this process, or nil and no error if "banyan run" hasn't
// started it. It takes the descriptor over, so that programs which this process starts don't
// inherit it.
func FromEnv() (*Conn, error) {
	s := os.Getenv(env.ControlFD)
	if s == "" {
		return nil, nil
	}
	fd, err := strconv.Atoi(s)
	if err != nil || fd < 0 {
		return nil, fmt.Errorf("control: %s=%q is not a descriptor", env.ControlFD, s)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("control: %s=%s: %w", env.ControlFD, s, err)
	}
	syscall.CloseOnExec(fd)
	os.Unsetenv(env.ControlFD)
	return NewConn(os.NewFile(uintptr(fd), "control")), nil
}

// Send sends a message. It blocks only if the other side hasn't read some thousand messages.
func (c *Conn) Send(m Message) error {
	b, err := encode(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.rwc.Write(b)
	return err
}

// Receive waits for the next message. io.EOF says that the other side has gone.
func (c *Conn) Receive() (Message, error) {
	b, err := c.lines.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return Message{}, fmt.Errorf("control: a line is longer than %d bytes", maxLine)
	case errors.Is(err, syscall.ECONNRESET):
		// The other side went and left lines unread.
		return Message{}, io.EOF
	case err != nil:
		return Message{}, err
	}
	return decode(b)
}

// Close ends the lifeline and wakes Receive.
func (c *Conn) Close() error { return c.rwc.Close() }

// encode returns the line of a message with its end.
func encode(m Message) ([]byte, error) {
	m.Cause, m.Text, m.Card = clip(m.Cause, maxText), clip(m.Text, maxText), clip(m.Card, maxCard)
	if b, ok := encodePlain(m); ok {
		return b, nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	return append(b, '\n'), nil
}

// decode reads a line. The end is optional.
func decode(line []byte) (Message, error) {
	if m, ok := decodePlain(line); ok {
		return m, nil
	}
	var m Message
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{}, fmt.Errorf("control: %.100q: %w", line, err)
	}
	if m.Type == "" {
		return Message{}, fmt.Errorf("control: %.100q has no type", line)
	}
	return m, nil
}

func clip(s string, limit int) string { return s[:min(len(s), limit)] }
