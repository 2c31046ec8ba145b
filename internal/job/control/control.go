// Package control is the lifeline between "banyan run" and each process that it
// started: certain news of deaths, and of debuggers, in one direction, wishes in the
// other.
//
// The processes of a job don't depend on it. Under another launcher there is no
// lifeline (FromEnv returns nil), and deaths are known from the processes' own
// evidence and from silence. With spare processes they speak the part of it that is about
// healing with the spare leader (package spare leader), whose end ends nobody.
//
// # The protocol
//
// Each side writes one JSON object a line, a Message, to a socket that the
// process inherits as descriptor BANYAN_CONTROL_FD. The order of the lines is
// the order of the events. No line but Explain is answered, by the spare leader also Finalized. Fields that a Type doesn't name
// are zero; unknown types and fields are to be ignored, so that either side may
// be newer.
//
// The lifeline's end is news as well. Where the launcher has gone, Receive
// returns io.EOF, and the process must exit: nobody would clean up behind it.
// Where the process has gone, the launcher waits for the kernel's word, because a
// forked child may hold the socket.
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
	"time"

	"banyan/internal/job/env"
	"banyan/internal/proto"
)

// Type says what a Message is.
type Type string

// From a process to the launcher.
const (
	// Ready: the library is initialised. From here on an exit without
	// Finalized is a death, and the process takes part in the detection of
	// failures. Pid is the process that says so: a child of the one that the
	// launcher has started if that is a debugger, say, or a shell.
	Ready Type = "ready"
	// Survive: the program handles the loss of ranks itself, so that losing
	// one doesn't end the job.
	Survive Type = "survive"
	// Suspect: Proc has been silent for Silent. The launcher kills it, even if
	// it is stopped, and tells the others of its Death.
	Suspect Type = "suspect"
	// Corrupted: Proc has sent or got data that other replicas don't have. Text says
	// which. The launcher kills it.
	Corrupted Type = "corrupted"
	// Finalized: the process left in order. An exit with code 0 is no death.
	Finalized Type = "finalized"
	// View: a view of the job is in force: Number, with so many Members, without
	// those Gone, and why, and with those who have Joined since the one before. The coordinator says so, once for each.
	View Type = "view"
	// Abort: end the job with Code, because of Text.
	Abort Type = "abort"
	// Waits answers an Explain: Text says what the process waits for, in the words that
	// follow its name.
	Waits Type = "waits"
	// Healable: this process has come to its first safe point: a replacement to its rank can
	// have its state. It waits for Noted before it reads more input. Opaque says that what it has read may be more
	// than its program has taken, nobody knows by how much.
	Healable Type = "healable"
	// Unhealable: this process can't give its state away, for Text. From a replacement: nor can
	// another replacement have its donor's.
	Unhealable Type = "unhealable"
	// Arrived, from a replacement: others can reach it.
	Arrived Type = "arrived"
	// Mark, from the donor of Proc in Incarnation: all that its program has written is out, and it waits for
	// Marked before it writes more. What the replacement writes comes after it.
	Mark Type = "mark"
	// Committed, from a replacement: it is a replica from here on, even if its donor dies.
	Committed Type = "committed"
	// Healed, from a replacement: everybody knows it, and its program goes on.
	Healed Type = "healed"
	// HealFailed, from a replacement: it can't be one, for Text, and ends.
	HealFailed Type = "heal failed"
	// Lost: the program was told that the rank of Proc is lost. Text says in
	// which operation. For the report only.
	Lost Type = "lost"
)

// From a process to the spare leader.
const (
	// Member: this is Proc in Incarnation, process Pid, at the address Card.
	Member Type = "member"
	// Spare: this is a process without a place, which runs the job's program Number.
	Spare Type = "spare"
	// Knows: Proc was admitted in Incarnation, as far as this process was told.
	Knows Type = "knows"
	// Eviction notice: this process holds Proc for dead, in its incarnations up to Incarnation.
	Eviction Type = "eviction notice"
	// Excluded: a view of the job goes without Proc in Incarnation, which isn't known to have left.
	Excluded Type = "excluded"
)

// Between a process and the spare leader, in both directions.
const (
	// Term: the spare leaders' term Number has begun, and this connection is of that term. The spare leader says
	// so again and again, as a sign of life; a process when it comes, and, with a higher number,
	// when it goes on to the next spare leader.
	Term Type = "term"
)

// From the spare leader to a process, beside what the launcher says about healing. It sends Healed, of Proc in
// Incarnation, too; and Finalized, as its answer to that, and to the spares as soon as some process has left in order. These tell it to
// the next spare leader.
const (
	// Take: the spare is Proc in Incarnation from here on. What it has been told before is how things stand.
	Take Type = "take"
	// Dismissed: the job is over, or nobody needs this replacement; it is to end, with Code, because of Text.
	Dismissed Type = "dismissed"
)

// From the launcher to a process.
const (
	// Death: Proc has ended, other than in order, by Signal or with exit code
	// Code (if Signal is 0). This is certain: it has been reaped.
	Death Type = "death"
	// Left: Proc has ended in order.
	Left Type = "left"
	// Traced: a debugger is attached to Proc, which it may stop at any time.
	// Its silence is no death.
	Traced Type = "traced"
	// Untraced: it isn't any more.
	Untraced Type = "untraced"
	// Explain asks the process what it waits for: a user wants to know why the job hangs.
	Explain Type = "explain"
	// Admit: a process takes the place of Proc, which has died, in Incarnation. The
	// spare leader says at which address: Card. The launcher's processes look it up.
	Admit Type = "admit"
	// Donate: this process is the donor of Proc in Incarnation, which has Arrived.
	Donate Type = "donate"
	// Marked answers Mark, about the same Proc and Incarnation. Input is how much of the job's input has been
	// read by now.
	Marked Type = "marked"
	// Noted answers Healable: Input is how much of the job's input had been read.
	Noted Type = "noted"
	// Shutdown: the job is being ended; kill follows. Text says why.
	Shutdown Type = "shutdown"
)

// Message is one line on the lifeline.
type Message struct {
	Type Type       `json:"type"`
	Proc proto.Proc `json:"proc,omitempty"`
	// Incarnation is which process in the place of Proc is meant.
	Incarnation proto.Incarnation `json:"incarnation,omitempty"`
	Code        int               `json:"code,omitempty"`
	Pid         int               `json:"pid,omitempty"`
	Signal      int               `json:"signal,omitempty"`
	Cause       string            `json:"cause,omitempty"` // of a Death, in words
	Text        string            `json:"text,omitempty"`
	Silent      time.Duration     `json:"silent_ns,omitempty"`
	Input       int64             `json:"input,omitempty"` // bytes
	Opaque      bool              `json:"opaque,omitempty"`

	Card string `json:"card,omitempty"`

	Number  uint64       `json:"number,omitempty"`
	Members int          `json:"members,omitempty"`
	Gone    []Gone       `json:"gone,omitempty"`
	Joined  []proto.Proc `json:"joined,omitempty"`
}

// Gone is a process that a view does without, and why: "died", "silent" or "left".
type Gone struct {
	Proc proto.Proc `json:"proc"`
	Why  string     `json:"why"`
}

// maxLine bounds a line in bytes, with its end.
const maxLine = 64 << 10

// maxText bounds Cause and Text in bytes, and maxCard Card, so that a line keeps its bound
// however JSON writes them.
const (
	maxText = 4 << 10
	maxCard = 1 << 10
)

// Conn is one end of a lifeline. Send may be called from several goroutines,
// Receive from one, both at the same time.
type Conn struct {
	rwc   io.ReadWriteCloser
	lines *bufio.Reader
	mu    sync.Mutex // of Send: lines don't mix
}

// NewConn makes an end of a lifeline of a connection, which it owns from now on.
func NewConn(rwc io.ReadWriteCloser) *Conn {
	return &Conn{rwc: rwc, lines: bufio.NewReaderSize(rwc, maxLine)}
}

// FromEnv returns the lifeline of this process, or nil and no error if it
// wasn't started by banyan run. It takes the descriptor over, so that programs
// which this process starts don't inherit it.
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

// Send sends a message. It blocks only while the other side reads nothing for
// some thousand messages.
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
		// The other side went with unread lines.
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
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	return append(b, '\n'), nil
}

// decode reads a line. The end is optional.
func decode(line []byte) (Message, error) {
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
