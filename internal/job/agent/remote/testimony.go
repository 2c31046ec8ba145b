package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
)

// Testimony is what the parent of an agent (package guard) must know to tell the launcher that the
// agent is dead, and its processes with it. The launcher then needs not wait for the lease's end.
type Testimony struct {
	Addresses []string // of the launcher
	Number    int      // of the agent
	Instance  uint64   // of the agent: another process of this number isn't meant
	Key       secure.Key
	build     string
}

// maxTestimony bounds a Testimony as bytes.
const maxTestimony = 64 << 10

// Line is the testimony for ReadTestimony at the other end of a stream. It contains the key.
func (t Testimony) Line() []byte {
	text, err := json.Marshal(struct {
		Addresses []string
		Number    int
		Instance  uint64
	}{t.Addresses, t.Number, t.Instance})
	if err != nil {
		panic(err) // impossible: these can all be written
	}
	head := fmt.Appendf(nil, "%8d", len(text))
	return append(append(head, text...), t.Key.Line()...)
}

// ReadTestimony reads what Line has made, and no byte behind it.
func ReadTestimony(r io.Reader) (t Testimony, err error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		return t, err
	}
	var n int
	if _, err := fmt.Sscanf(string(head), "%d", &n); err != nil || n < 0 || n > maxTestimony {
		return t, errors.New("this is no testimony")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return t, err
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, err
	}
	t.Key, err = secure.ReadKey(r)
	return t, err
}

// Give tells the launcher how the agent has died when certain is closed, by a caller that knows it
// then. It connects before. It tries until the launcher has heard it, or ctx ends.
func (t Testimony) Give(ctx context.Context, certain <-chan struct{}, how string) error {
	d := &dialler{addresses: t.Addresses, key: t.Key, number: t.Number, build: buildOr(t.build)}
	c, err := d.dial(ctx, func() wire.Greeting {
		<-certain
		return wire.Greeting{Version: wire.Version, Build: d.build, Instance: t.Instance, Dead: how}
	})
	if err != nil {
		return err
	}
	return c.Close()
}

// Standing is a connection of an agent's parent on which it will say that the agent is dead. To
// make one takes longer than all the rest of a testimony, on a busy host ten times as long.
type Standing struct {
	testimony Testimony
	dialler   *dialler
	conn      *connection
}

// Stand connects to the launcher that has the agent. It tries until ctx ends, or the launcher
// refuses it.
func (t Testimony) Stand(ctx context.Context) (*Standing, error) {
	d := &dialler{addresses: t.Addresses, key: t.Key, number: t.Number, build: buildOr(t.build)}
	c, err := d.dial(ctx, func() wire.Greeting {
		return wire.Greeting{Version: wire.Version, Build: d.build, Instance: t.Instance, Stands: true}
	})
	if err != nil {
		return nil, err
	}
	return &Standing{t, d, c}, nil
}

// Give tells the launcher how the agent has died. It tries once, until ctx ends.
func (s *Standing) Give(ctx context.Context, how string) error {
	defer s.Close()
	_, err := s.dialler.greet(ctx, s.conn.Conn, wire.Greeting{Version: wire.Version, Build: s.dialler.build, Instance: s.testimony.Instance, Dead: how})
	return err
}

// Close ends the connection.
func (s *Standing) Close() { s.conn.Close() }

// stands waits for what an agent's parent says when the agent has died. It returns the next frame,
// or why the parent is refused.
func (l *Listener) stands(conn net.Conn, reader *wire.Reader, number int, hello wire.Greeting) (f *wire.Frame, why string) {
	l.mu.Lock()
	r := l.agents[number]
	l.mu.Unlock()
	answer, kind := wire.Greeting{Version: wire.Version, Build: l.options.build, Instance: l.instance, Term: l.options.Term}, wire.Welcome
	if r == nil || r.instance != hello.Instance {
		why, kind = "this launcher doesn't know it", wire.Refusal
		answer.Text = why
	}
	g, err := answer.Frame(kind)
	if err == nil {
		_, err = conn.Write(wire.Append(nil, g))
	}
	if err != nil || why != "" {
		return nil, why
	}
	conn.SetDeadline(time.Time{})
	if f, err = reader.Read(); err != nil {
		return nil, "" // the agent has ended in order
	}
	conn.SetDeadline(time.Now().Add(handshakeLimit))
	return f, ""
}

// restLimit bounds the wait for what a dead agent's kernel still sends on its connection. When that
// has broken there is no wait.
const restLimit = 100 * time.Millisecond

// testified takes the word of an agent's guard that the agent is dead.
func (l *Listener) testified(number int, g wire.Greeting) (why string) {
	l.mu.Lock()
	r := l.agents[number]
	if r == nil && l.options.Known[number] == g.Instance && !l.closed {
		l.dead[number] = g.Dead
		delete(l.known, number)
		l.news()
		l.mu.Unlock()
		return ""
	}
	l.mu.Unlock()
	if r == nil || r.instance != g.Instance {
		return "this launcher doesn't know it"
	}
	r.link.AwaitIdle(cmp.Or(l.options.rest, restLimit))
	if r.isClosing() {
		r.link.End(errClosed)
	} else {
		r.lose("its agent has died with its processes: "+g.Dead, true)
	}
	return ""
}
