package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"sync"
	"syscall"

	"banyan/internal/job/launcher/output"
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
	outs    [streams]interface{ show(f *Frame) error }
	have    [streams]positions // what was shown, also in attachments before

	mu       sync.Mutex
	changed  sync.Cond
	reading  bool  // a goroutine reads Stdin
	live     *link // to which input goes; nil: it waits
	sent     tail  // of the input
	given    int64 // input that was sent to the present launcher
	accepted int64 // input that the job has taken
}

// Last is what the last launcher said of itself that welcomed the console.
func (c *Console) Last() Welcomed { return c.welcome }

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
	before := c.welcome.Launcher
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
			c.beginInput(before != "" && before != c.welcome.Launcher)
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
			if c.File != nil {
				for err == nil {
					_, err = c.l.receive() // until it has heard that
				}
				c.File.finish()
			}
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
	if c.have[Stdout] == nil {
		c.have = [streams]positions{{}, {}}
		if c.File != nil {
			c.have[Stdout] = maps.Clone(c.File.state.have)
		}
	}
	for s, have := range c.have {
		for _, f := range have.frames(Stream(s)) {
			if err := c.l.send(&f, Silence); err != nil {
				return fmt.Errorf("%w: %w", ErrNotWelcome, err)
			}
		}
	}
	before := c.welcome.Launcher
	a := Attachment{Watch: c.Watch, Starting: c.UntilStarted, File: c.File != nil, Launcher: before}
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
	case f.Kind != Welcome:
		return ErrCorrupt
	}
	c.welcome = Welcomed{}
	if json.Unmarshal(f.Data, &c.welcome) != nil {
		return ErrCorrupt
	}
	if c.outs[Stdout] == nil {
		c.outs[Stdout] = &passed{w: c.Stdout, render: output.NewRenderer(c.welcome.Label)}
		c.outs[Stderr] = &passed{w: c.Stderr, render: output.NewRenderer(c.welcome.Label)}
		if c.File != nil {
			c.File.begin(c.welcome.Label)
			c.outs[Stdout] = c.File
		}
	}
	if before != c.welcome.Launcher {
		for _, have := range c.have {
			delete(have, Launcher)
		}
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

// print shows pieces of output, and acknowledges them.
func (c *Console) print(f *Frame) error {
	if f.Number > 0 {
		if c.welcome.Owner {
			return ErrCorrupt
		}
		fmt.Fprintf(c.Stderr, "\nbanyan: %d bytes of %v were shown elsewhere, and aren't kept\n", f.Number, f.Stream)
	}
	have := c.have[f.Stream]
	for _, p := range f.From {
		if p.At < have[p.Source] {
			return ErrCorrupt // it was told what there is already
		}
	}
	if err := c.outs[f.Stream].show(f); err != nil {
		return fmt.Errorf("%w on %v: %w", ErrOutput, f.Stream, err)
	}
	for _, p := range f.From {
		have.set(p.Source, p.At+int64(p.Length))
	}
	if !c.welcome.Owner {
		return nil
	}
	// If the launcher has gone the next receive says so, after what has come.
	c.l.send(&Frame{Kind: Ack, Stream: f.Stream, Offset: f.Offset}, Silence)
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
