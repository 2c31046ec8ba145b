package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// Errors of Attach.
var (
	// ErrNotWelcome says that the connection ended before the console was attached. The job may
	// have ended just then.
	ErrNotWelcome = errors.New("the job hasn't answered")
	// ErrLauncherGone says that the launcher has died.
	ErrLauncherGone = errors.New("the job's launcher has died")
	// ErrOutput says that the console can't write what it was to show. The job goes on.
	ErrOutput = errors.New("the output can't be shown")
)

// Console shows a job that another process launches.
type Console struct {
	Stdout, Stderr io.Writer
	File           *File     // takes stdout in place of Stdout; nil: there is none
	Watch          bool      // show only
	Stdin          io.Reader // nil: the console passes no input
	// Signals are passed to the job, if this console is the owner.
	Signals <-chan os.Signal
	// Leave, when closed, ends the console. The job goes on.
	Leave <-chan struct{}
	// UntilStarted ends the console when all processes have started.
	UntilStarted bool
	// Welcomed is called once the console is attached. It may be nil.
	Welcomed func(w Welcomed)

	l       *link
	welcome Welcomed
	outs    [streams]interface {
		writeAt(b []byte, offset int64) error
	}
	next  [streams]int64 // where the output goes on
	shown [streams]int64 // up to where it was shown, also in an attachment before

	mu       sync.Mutex
	changed  sync.Cond
	reading  bool  // a goroutine reads Stdin
	live     *link // to which input goes; nil: it waits
	given    int64 // input that was sent
	accepted int64 // input that the job has taken
}

// Outcome is how showing a job ended.
type Outcome struct {
	Job   string
	Ended bool // the job has ended, with Code
	Code  int
	// Started says that all processes had started, if UntilStarted was asked for.
	Started bool
	Left    bool // Leave was closed
}

// Attach shows the job on whose socket conn is, until it ends, or the console shall. It closes
// conn. A Read of Stdin that is under way at the end is abandoned. If the launcher has taken the
// console for dead, because it was stopped for a while, Attach may be called again: the output
// goes on where it was, and so does the input.
func (c *Console) Attach(conn net.Conn) (o Outcome, err error) {
	defer conn.Close()
	c.l = newLink(conn)
	if c.changed.L == nil {
		c.changed.L = &c.mu
	}
	if err := c.enter(); err != nil {
		return o, err
	}
	o.Job = c.welcome.Job
	if c.Welcomed != nil {
		c.Welcomed(c.welcome)
	}
	over := make(chan struct{})
	left := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { c.l.beat(over) })
	beside.Go(func() {
		select {
		case <-over:
		case <-c.Leave:
			close(left)
			conn.Close()
		}
	})
	if c.welcome.Owner {
		beside.Go(func() { c.passSignals(over) })
		if c.Stdin != nil && !c.welcome.InputEnded {
			c.beginInput()
		}
	}
	defer func() {
		close(over)
		conn.Close()
		c.mu.Lock()
		c.live = nil
		c.mu.Unlock()
		beside.Wait()
		select {
		case <-left:
			o.Left, err = true, nil
		default:
		}
	}()
	for {
		f, err := c.l.receive()
		if err != nil {
			return o, fmt.Errorf("%w: %w", ErrLauncherGone, err)
		}
		switch f.Kind {
		case Beat:
		case Output:
			err = c.print(&f)
		case InputAck:
			c.mu.Lock()
			c.accepted = max(c.accepted, f.Offset)
			c.changed.Broadcast()
			c.mu.Unlock()
		case Started:
			if c.UntilStarted {
				o.Started = true
				return o, nil
			}
		case Exit:
			o.Ended, o.Code = true, f.Number
			c.l.send(&Frame{Kind: Done}, Silence) // if it has gone it will keep the end, needlessly
			return o, nil
		default:
			err = ErrCorrupt
		}
		if err != nil {
			return o, err
		}
	}
}

// enter attaches the console.
func (c *Console) enter() error {
	if err := c.l.greet(); err != nil {
		return refusedOr(err)
	}
	a := Attachment{Watch: c.Watch, Starting: c.UntilStarted}
	if c.File != nil {
		var err error
		if a.File, a.Length, err = c.File.state(); err != nil {
			return err
		}
	}
	text, _ := json.Marshal(a) // of numbers and names: it can't fail
	if err := c.l.send(&Frame{Kind: Attach, Data: text}, Silence); err != nil {
		return fmt.Errorf("%w: %w", ErrNotWelcome, err)
	}
	f, err := c.l.receive()
	for err == nil && f.Kind == Beat {
		f, err = c.l.receive()
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotWelcome, err)
	case f.Kind == Refusal:
		return &RequestError{f.Text}
	case f.Kind != Welcome || json.Unmarshal(f.Data, &c.welcome) != nil:
		return ErrCorrupt
	}
	c.next = c.welcome.Begin
	c.outs[Stdout], c.outs[Stderr] = passed{c.Stdout}, passed{c.Stderr}
	if c.File != nil {
		c.outs[Stdout] = placed{c.File, a.Length - c.welcome.Begin[Stdout]}
	}
	return nil
}

// refusedOr tells an end of the connection from what the launcher has said.
func refusedOr(err error) error {
	var network net.Error
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.As(err, &network) {
		return fmt.Errorf("%w: %w", ErrNotWelcome, err)
	}
	return err
}

// print shows a piece of output, and acknowledges it.
func (c *Console) print(f *Frame) error {
	switch missing := f.Offset - c.next[f.Stream]; {
	case missing < 0 || missing > 0 && c.welcome.Owner:
		return ErrCorrupt
	case missing > 0:
		fmt.Fprintf(c.Stderr, "\nbanyan: %d bytes of %v were shown elsewhere, and aren't kept\n", missing, f.Stream)
	}
	c.next[f.Stream] = f.Offset + int64(len(f.Data))
	if again := c.shown[f.Stream] - f.Offset; again < int64(len(f.Data)) {
		again = max(again, 0)
		if err := c.outs[f.Stream].writeAt(f.Data[again:], f.Offset+again); err != nil {
			return fmt.Errorf("%w on %v: %w", ErrOutput, f.Stream, err)
		}
		c.shown[f.Stream] = c.next[f.Stream]
	}
	if !c.welcome.Owner {
		return nil
	}
	// If the launcher has gone the next receive says so, after what has come.
	c.l.send(&Frame{Kind: Ack, Stream: f.Stream, Offset: c.next[f.Stream]}, Silence)
	return nil
}

// passSignals hands on signals.
func (c *Console) passSignals(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case s := <-c.Signals:
			if n, ok := s.(syscall.Signal); ok {
				c.l.send(&Frame{Kind: Signal, Number: int(n)}, Silence)
			}
		}
	}
}

// beginInput has the input go to this attachment's job.
func (c *Console) beginInput() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live, c.given, c.accepted = c.l, c.welcome.Input, c.welcome.Input
	c.changed.Broadcast()
	if !c.reading {
		c.reading = true
		go c.passInput()
	}
}

// passInput hands on the input, at most inputWindow ahead of what the job takes.
func (c *Console) passInput() {
	buf := make([]byte, min(MaxPiece, inputWindow/2))
	for {
		n, err := c.Stdin.Read(buf)
		c.mu.Lock()
		for c.live == nil || c.given+int64(n)-c.accepted > inputWindow {
			c.changed.Wait()
		}
		l, f := c.live, Frame{Kind: Input, Offset: c.given, Data: buf[:n], End: err != nil}
		c.given += int64(n)
		c.mu.Unlock()
		l.send(&f, Silence)
		if err != nil {
			return
		}
	}
}
