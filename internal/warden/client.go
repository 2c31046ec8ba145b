package warden

import (
	"context"
	"net"
	"sync"
	"time"

	"banyan/internal/control"
	"banyan/internal/proto"
	"banyan/internal/transport/mesh"
)

// ClientConfig says how a process, or a spare, finds the warden.
type ClientConfig struct {
	Meeting mesh.Meeting // as whom it comes
	First   proto.Proc   // the lowest spare; the others follow
	// Addresses of the spares' doors; "" is one's that died before it had one.
	Addresses []string
	// Introduce gives what a warden is told first: all that it must know.
	Introduce func() []control.Message
	// Heard takes what the warden says. While it runs nothing else is heard.
	Heard func(m control.Message)
	// Lost says that the warden that has been met has gone. The next is tried after that.
	Lost func()
	// Reign says that this is a spare, and that no lower one is left.
	Reign func()
}

// Client is a process's or spare's connection to the warden of the moment.
type Client struct {
	cfg    ClientConfig
	cancel context.CancelFunc
	done   chan struct{} // closed when there is no warden any more, and never will be

	mu   sync.Mutex
	link *link // nil: none at the moment
}

// link is a connection to one warden.
type link struct {
	conn   net.Conn
	unsent chan control.Message
	sent   chan struct{} // closed when nothing is sent any more
}

// Connect begins to look for the warden, and keeps looking.
func Connect(cfg ClientConfig) *Client {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{cfg: cfg, cancel: cancel, done: make(chan struct{})}
	go c.run(ctx)
	return c
}

func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	for i, address := range c.cfg.Addresses {
		spare := c.cfg.First + proto.Proc(i)
		if spare == c.cfg.Meeting.Self {
			c.cfg.Reign()
		}
		if address == "" {
			continue
		}
		conn, err := c.cfg.Meeting.Dial(ctx, address, spare)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			continue
		}
		c.attend(ctx, conn)
		if ctx.Err() != nil {
			return
		}
		c.cfg.Lost()
	}
}

// attend speaks with one warden until that goes.
func (c *Client) attend(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	lines := control.NewConn(conn)
	l := &link{conn: conn, unsent: make(chan control.Message, maxUnsent), sent: make(chan struct{})}
	go func() {
		defer close(l.sent)
		defer conn.Close()
		for m := range l.unsent {
			if lines.Send(m) != nil {
				return
			}
		}
	}()
	c.mu.Lock()
	for _, m := range c.cfg.Introduce() {
		l.put(m)
	}
	c.link = l
	c.mu.Unlock()
	for {
		m, err := lines.Receive()
		if err != nil {
			break
		}
		c.cfg.Heard(m)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == l {
		c.link = nil
		close(l.unsent)
	}
}

// put queues a message. A warden that doesn't take in what it is told is none.
func (l *link) put(m control.Message) {
	select {
	case l.unsent <- m:
	default:
		l.conn.Close()
	}
}

// Send tells the warden something, and says whether there is one at the moment. Otherwise the
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

// Leave tells the warden something for the last time, and goes. One that isn't met yet is waited
// for, within so long.
func (c *Client) Leave(m control.Message, limit time.Duration) {
	defer c.cancel()
	late := time.After(limit)
	l := c.take(late)
	if l == nil {
		return
	}
	l.put(m)
	close(l.unsent)
	select {
	case <-l.sent:
	case <-late:
	}
}

// take takes the connection away, once there is one; nil if there is none in time.
func (c *Client) take(late <-chan time.Time) (l *link) {
	for {
		c.mu.Lock()
		l, c.link = c.link, nil
		c.mu.Unlock()
		if l != nil {
			return l
		}
		select {
		case <-c.done:
			return nil
		case <-late:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}
