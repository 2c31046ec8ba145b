package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
	"banyan/internal/runtime/handshake"
)

// greet takes a connection, and carries the streams of the agent that has proved itself.
func (l *Listener) greet(ctx context.Context, conn net.Conn, proven func()) {
	limited, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	c, number, err := secure.Accept(limited, conn, l.key)
	if err != nil {
		if !errors.Is(handshake.MarkHangUp(err), handshake.ErrHungUp) && ctx.Err() == nil {
			l.refuse(-1, conn.RemoteAddr(), err.Error())
		}
		return
	}
	defer c.Close()
	proven()
	c.SetDeadline(time.Now().Add(handshakeLimit))
	r, reader, why := l.welcome(c, number)
	if why != "" {
		l.refuse(number, conn.RemoteAddr(), why)
	}
	if r == nil {
		return
	}
	c.SetDeadline(time.Time{})
	r.carry(func() error { return r.link.Carry(c, reader) })
}

// welcome answers an agent's hello. why is a reason to refuse it.
func (l *Listener) welcome(conn net.Conn, number int) (r *Remote, reader *wire.Reader, why string) {
	reader = wire.NewReader(conn)
	f, err := reader.Read()
	if err != nil {
		return nil, nil, "" // it hung up
	}
	hello, err := f.Greeting()
	if err == nil && hello.Stands && hello.Disagreement(wire.Version, l.options.build, "") == "" {
		if f, why = l.stands(conn, reader, number, hello); f == nil {
			return nil, nil, why
		}
		hello, err = f.Greeting()
	}
	if f.Kind == wire.Refusal {
		return nil, nil, hello.Text
	}
	answer := wire.Greeting{Version: wire.Version, Build: l.options.build, Instance: l.instance, Term: l.options.Term}
	kind, testimony := wire.Welcome, false
	switch why = hello.Disagreement(wire.Version, l.options.build, "the agent"); {
	case f.Kind != wire.Hello || err != nil || hello.Instance == 0:
		why = secure.ErrStranger.Error()
	case why != "":
	case hello.Stands:
		why = secure.ErrStranger.Error()
	case hello.Dead != "":
		why, testimony = l.testified(number, hello), true
	case hello.Term > l.options.Term:
		why = fmt.Sprintf("it follows a launcher of term %d, and this one's is %d", hello.Term, l.options.Term)
	default:
		r, why, answer.Passing = l.admit(number, hello)
	}
	if why == "" && !testimony {
		var ok bool
		if answer.Grant, ok = r.request(hello.Request); !ok {
			why = "the launcher holds it for dead or has ended"
		}
	}
	if why != "" {
		kind, answer.Text, r = wire.Refusal, why, nil
		if text := (wire.Greeting{Version: wire.Version, Build: l.options.build}).Disagreement(hello.Version, hello.Build, "the launcher"); text != "" {
			answer.Text = text // by the agent's view
		}
	}
	g, err := answer.Frame(kind)
	if err == nil {
		_, err = conn.Write(wire.Append(nil, g))
	}
	if err != nil {
		return nil, nil, why
	}
	return r, reader, why
}

// admit finds or makes the Remote of an agent. why is a reason to refuse it, which may pass.
func (l *Listener) admit(number int, hello wire.Greeting) (r *Remote, why string, passing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r = l.agents[number]
	known, has := l.known[number]
	switch {
	case l.closed:
		return nil, "the launcher has ended", false
	case r != nil && r.instance == hello.Instance:
		return r, "", false
	case hello.Request.Has != 0 && !l.options.Adopt:
		return nil, "this launcher doesn't know it", false
	case has && known != hello.Instance && r == nil:
		return nil, "there was an agent of this number already, and it isn't known to be lost", true
	case r != nil && r.Reason() == "" && r.link.Err() == nil:
		// If that one is dead it is known when its lease is over.
		return nil, fmt.Sprintf("there is an agent of this number already, on %s, and it isn't lost", r.host.Name), true
	}
	r = newRemote(number, hello, l.options)
	l.agents[number] = r
	delete(l.refused, number)
	l.news()
	return r, "", false
}
