package spares

import (
	"context"
	"net"
	"sync"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
)

// ClientConfig says how a process, or a spare, finds the spare leader.
type ClientConfig struct {
	Meeting handshake.Meeting // as whom it comes
	First   proto.Proc        // the lowest spare; the others follow
	// Addresses of the spares' doors; "" is one's that died before it had one.
	Addresses []string
	Silence   time.Duration // after which a spare leader counts as gone
	// Introduce gives what a spare leader is told first: all that it must know.
	Introduce func() []control.Message
	// Heard takes what the spare leader says. While it runs nothing else is heard.
	Heard func(m control.Message)
	// Lost says that the spare leader that has been met has gone. The next is tried, and told what Introduce gives, after it has
	// returned.
	Lost func()
	// Own is this spare's service, nil if this isn't a spare.
	Own *Service
}

// Client is a process's or spare's connection to the spare leader of the moment.
type Client struct {
	cfg    ClientConfig
	cancel context.CancelFunc

	mu     sync.Mutex
	course course
	urged  uint64           // the turn that others have gone on to
	link   *link            // nil: none at the moment
	giveUp func()           // ends an attempt to reach a spare leader
	last   *control.Message // what it says before it leaves, nil before that
	tried  int              // so many spare leaders didn't answer it
	done   chan struct{}    // closed when one has, or none could
}

// link is a connection to one spare leader.
type link struct {
	conn      net.Conn
	unsent    chan control.Message
	listening bool // nothing that was heard is being acted on
}

// Connect begins to look for the spare leader, and keeps looking.
func Connect(cfg ClientConfig) *Client {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{cfg: cfg, cancel: cancel, course: course{spares: len(cfg.Addresses)}, done: make(chan struct{})}
	if cfg.Own != nil {
		cfg.Own.follow(c)
	}
	go c.run(ctx)
	return c
}

func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	for ctx.Err() == nil {
		spare, turn := c.whose()
		if c.cfg.Own != nil {
			c.cfg.Own.turn(turn)
		}
		conn, err := c.dial(ctx, spare)
		if err == nil {
			if c.attend(ctx, conn) {
				return
			}
			if ctx.Err() == nil {
				c.cfg.Lost()
			}
		} else {
			select {
			case <-ctx.Done():
			case <-time.After(pause(c.cfg.Silence)):
			}
		}
		if c.goOn(err == nil) {
			return
		}
	}
}

// goOn turns to the next spare leader, and says whether there is none for who only wants to leave: each was tried. met says
// whether this one could be reached.
func (c *Client) goOn(met bool) (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && c.urged <= c.course.turn {
		c.tried++
	}
	c.course.goOn(c.urged)
	if !met {
		c.course.barren++
	}
	return c.last != nil && max(c.tried, c.course.barren) >= len(c.cfg.Addresses)
}

// whose says whose turn it is.
func (c *Client) whose() (spare int, turn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.course.spare(), c.course.turn
}

// dial comes to a spare. One that is stopped doesn't answer; one that is only slow may take a while.
func (c *Client) dial(ctx context.Context, spare int) (net.Conn, error) {
	address := c.cfg.Addresses[spare]
	if address == "" {
		return nil, net.ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, beats*c.cfg.Silence)
	defer cancel()
	c.mu.Lock()
	c.giveUp = cancel
	if c.urged > c.course.turn {
		cancel()
	}
	c.mu.Unlock()
	return c.cfg.Meeting.Dial(ctx, address, c.cfg.First+proto.Proc(spare))
}

// attend speaks with one spare leader until that goes, or is silent, or the turn is another's, or this one has left and knows
// that it was heard.
func (c *Client) attend(ctx context.Context, conn net.Conn) (left bool) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	lines := control.NewConn(conn)
	l := &link{conn: conn, unsent: make(chan control.Message, maxUnsent)}
	go func() {
		defer conn.Close()
		for m := range l.unsent {
			if lines.Send(m) != nil {
				return
			}
		}
	}()
	c.mu.Lock()
	c.link, c.course.barren = l, 0
	l.put(control.Message{Type: control.Turn, Number: c.course.turn})
	if c.urged > c.course.turn {
		c.leave()
	} else {
		for _, m := range c.cfg.Introduce() {
			l.put(m)
		}
		if c.last != nil {
			l.put(*c.last)
		}
	}
	c.mu.Unlock()
	quiet := time.NewTicker(c.cfg.Silence / beats)
	defer quiet.Stop()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-quiet.C:
				c.watch(l)
			case <-ended:
				return
			}
		}
	}()
	for {
		c.listens(l, true)
		m, err := lines.Receive()
		if err != nil {
			break
		}
		if m.Type == control.Turn {
			c.alive(m.Number)
			continue
		}
		if left = c.heard(m); left {
			break
		}
		c.listens(l, false)
		c.cfg.Heard(m)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == l {
		c.link = nil
		close(l.unsent)
	}
	return left
}

// alive notes a sign of life. Who is about to leave waits for an answer, and no longer for a spare leader that gives signs of life only.
func (c *Client) alive(turn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.course.heard(turn)
	}
}

// heard says whether a message is the answer to the last one.
func (c *Client) heard(m control.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last != nil && c.last.Type == m.Type
}

func (c *Client) listens(l *link, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.listening = is
}

// watch looks whether the spare leader has been silent for too long.
func (c *Client) watch(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.link != l:
	case l.listening && c.course.tick():
		c.leave()
	default: // a replacement that is stopped is missed
		l.put(control.Message{Type: control.Turn, Number: c.course.turn})
	}
}

// urge says that others have gone on to a turn.
func (c *Client) urge(turn uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.urged = max(c.urged, turn)
	switch {
	case c.urged <= c.course.turn:
	case c.link != nil:
		c.leave()
	case c.giveUp != nil:
		c.giveUp() // the spare that doesn't answer may be stopped
	}
}

// leave goes on to the next spare leader, and tells this one so. The lock is held, and there is a connection.
func (c *Client) leave() {
	l := c.link
	c.link = nil
	l.put(control.Message{Type: control.Turn, Number: max(c.course.turn+1, c.urged)})
	close(l.unsent)
	l.conn.SetWriteDeadline(time.Now().Add(parting))
	l.conn.SetReadDeadline(time.Now()) // wakes attend
}

// put queues a message. A spare leader that doesn't take in what it is told is none.
func (l *link) put(m control.Message) {
	select {
	case l.unsent <- m:
	default:
		l.conn.Close()
	}
}

// Send tells the spare leader something, and says whether there is one at the moment. Otherwise the
// next is told what Introduce says.
func (c *Client) Send(m control.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return false
	}
	c.link.put(m)
	return true
}

// Close ends it without a word.
func (c *Client) Close() { c.cancel() }

// Leave tells the spare leader something for the last time, and goes when the spare leader has answered with the same word. If that doesn't come before
// a spare leader counts as gone the next one is told, until each spare has been tried.
func (c *Client) Leave(m control.Message) {
	defer c.cancel()
	c.mu.Lock()
	c.last = &m
	if c.link != nil {
		c.link.put(m)
	}
	deserted := c.course.barren >= len(c.cfg.Addresses) && c.link == nil
	c.mu.Unlock()
	if !deserted {
		<-c.done
	}
}
