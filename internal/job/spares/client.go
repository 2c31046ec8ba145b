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

// ClientConfig says how a process of the job, or a spare, finds the spare leader.
type ClientConfig struct {
	Meeting handshake.Meeting // as which process it connects
	First   proto.Proc        // the lowest spare; the others follow
	// Addresses are those of the spares' services. A spare that died before it had one has "".
	Addresses []string
	Silence   time.Duration // a spare leader that is silent for longer counts as gone
	// Introduce returns what a spare leader is told first: all that it must know.
	Introduce func() []control.Message
	// Heard takes what the spare leader says. Nothing else is heard while it runs.
	Heard func(m control.Message)
	// Lost says that the spare leader to which there was a connection has gone. After it has
	// returned the next spare leader is told what Introduce returns.
	Lost func()
	// Own is this spare's service, nil if this process isn't a spare.
	Own *Service
}

// Client is the connection of a process to the spare leader of the present term.
type Client struct {
	cfg    ClientConfig
	cancel context.CancelFunc

	mu        sync.Mutex
	tracker   tracker
	announced uint64           // the latest term that others have announced
	link      *link            // nil if there is none at the moment
	giveUp    func()           // ends an attempt to reach a spare leader
	last      *control.Message // what this process says before it leaves, nil before that
	tried     int              // so many spare leaders didn't answer last
	done      chan struct{}    // closed when one has answered, or none could
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
	c := &Client{cfg: cfg, cancel: cancel, tracker: tracker{spares: len(cfg.Addresses)}, done: make(chan struct{})}
	if cfg.Own != nil {
		cfg.Own.advances(c)
	}
	go c.run(ctx)
	return c
}

func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	for ctx.Err() == nil {
		spare, term := c.leader()
		if c.cfg.Own != nil {
			c.cfg.Own.setTerm(term)
		}
		conn, err := c.dial(ctx, spare)
		if err == nil {
			if c.follow(ctx, conn) {
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

// goOn goes on to the next term. reached says whether this term's spare leader could be reached.
// over says that this process only wants to leave, and has tried each spare.
func (c *Client) goOn(reached bool) (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && c.announced <= c.tracker.term {
		c.tried++
	}
	c.tracker.goOn(c.announced)
	if !reached {
		c.tracker.unreachable++
	}
	return c.last != nil && max(c.tried, c.tracker.unreachable) >= len(c.cfg.Addresses)
}

// leader says which spare leads the present term.
func (c *Client) leader() (spare int, term uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tracker.leader(), c.tracker.term
}

// dial connects to a spare. One that is stopped doesn't answer, and one that is slow may take a
// while.
func (c *Client) dial(ctx context.Context, spare int) (net.Conn, error) {
	address := c.cfg.Addresses[spare]
	if address == "" {
		return nil, net.ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, beats*c.cfg.Silence)
	defer cancel()
	c.mu.Lock()
	c.giveUp = cancel
	if c.announced > c.tracker.term {
		cancel()
	}
	c.mu.Unlock()
	return c.cfg.Meeting.Dial(ctx, address, c.cfg.First+proto.Proc(spare))
}

// follow speaks with one spare leader until it goes or falls silent, until another term begins,
// or until this process has left and knows that it was heard.
func (c *Client) follow(ctx context.Context, conn net.Conn) (left bool) {
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
	c.begin(l)
	ended := make(chan struct{})
	defer close(ended)
	go c.watch(l, ended)
	for {
		c.setListening(l, true)
		m, err := lines.Receive()
		if err != nil {
			break
		}
		if m.Type == control.Term {
			c.alive(m.Number)
			continue
		}
		if left = c.isAnswer(m); left {
			break
		}
		c.setListening(l, false)
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

// begin tells a spare leader what it must know first.
func (c *Client) begin(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link, c.tracker.unreachable = l, 0
	l.put(control.Message{Type: control.Term, Number: c.tracker.term})
	if c.announced > c.tracker.term {
		c.depart()
		return
	}
	for _, m := range c.cfg.Introduce() {
		l.put(m)
	}
	if c.last != nil {
		l.put(*c.last)
	}
}

// watch counts the signs of life that a spare leader misses, and gives signs of life itself.
func (c *Client) watch(l *link, ended chan struct{}) {
	beat := time.NewTicker(c.cfg.Silence / beats)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			c.tick(l)
		case <-ended:
			return
		}
	}
}

func (c *Client) tick(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.link != l:
	case l.listening && c.tracker.tick():
		c.depart()
	default: // the spare leader misses a replacement that is stopped
		l.put(control.Message{Type: control.Term, Number: c.tracker.term})
	}
}

// alive notes a sign of life. For a process that is about to leave it doesn't count: it waits for
// an answer, and no longer for a spare leader that gives only signs of life.
func (c *Client) alive(term uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.tracker.heard(term)
	}
}

// isAnswer says whether a message is the answer to the last one.
func (c *Client) isAnswer(m control.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last != nil && c.last.Type == m.Type
}

func (c *Client) setListening(l *link, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.listening = is
}

// advance says that others have gone on to a term.
func (c *Client) advance(term uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.announced = max(c.announced, term)
	switch {
	case c.announced <= c.tracker.term:
	case c.link != nil:
		c.depart()
	case c.giveUp != nil:
		c.giveUp() // the spare that doesn't answer may be stopped
	}
}

// depart goes on to the next term, and tells this term's spare leader so. The lock is held, and
// there is a connection.
func (c *Client) depart() {
	l := c.link
	c.link = nil
	l.put(control.Message{Type: control.Term, Number: max(c.tracker.term+1, c.announced)})
	close(l.unsent)
	l.conn.SetWriteDeadline(time.Now().Add(parting))
	l.conn.SetReadDeadline(time.Now()) // wakes follow
}

// put queues a message. It ends the connection to a spare leader that doesn't read its messages.
func (l *link) put(m control.Message) {
	select {
	case l.unsent <- m:
	default:
		l.conn.Close()
	}
}

// Send sends the spare leader a message, and says whether there is a spare leader at the moment. If
// there is none, the next one is told what Introduce returns.
func (c *Client) Send(m control.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return false
	}
	c.link.put(m)
	return true
}

// Close ends the client at once. It tells the spare leader nothing.
func (c *Client) Close() { c.cancel() }

// Leave tells the spare leader a last message, and returns when it has answered with a message of
// the same type. If no answer comes before the spare leader counts as gone, the next one is told,
// until each spare has been tried.
func (c *Client) Leave(m control.Message) {
	defer c.cancel()
	c.mu.Lock()
	c.last = &m
	if c.link != nil {
		c.link.put(m)
	}
	deserted := c.tracker.unreachable >= len(c.cfg.Addresses) && c.link == nil
	c.mu.Unlock()
	if !deserted {
		<-c.done
	}
}
