package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
)

// RequestError is what a job's launcher answers to a request that it can't fulfil.
type RequestError struct{ Text string }

func (e *RequestError) Error() string { return e.Text }

// Ask makes a request on a connection to a job, and closes the connection. It waits for the answer
// until ctx ends or the launcher is silent. show is called with what the launcher tells meanwhile;
// it may be nil.
func Ask[Answer any](ctx context.Context, conn net.Conn, name string, question any, show func(text string)) (a Answer, err error) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer func() {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	body, err := json.Marshal(question)
	if err != nil {
		return a, err
	}
	l := newLink(conn)
	if err := l.greet(); err != nil {
		return a, err
	}
	over := make(chan struct{})
	defer close(over)
	go l.beat(over)
	if err := l.send(&Frame{Kind: Request, Text: name, Data: body}, Silence); err != nil {
		return a, err
	}
	for {
		f, err := l.receive()
		switch {
		case err != nil:
			return a, fmt.Errorf("the job's launcher has gone before it answered: %w", err)
		case f.Kind == Progress && show != nil:
			show(f.Text)
		case f.Kind == Response && f.Text != "", f.Kind == Refusal:
			return a, &RequestError{f.Text}
		case f.Kind == Response:
			return a, json.Unmarshal(f.Data, &a)
		}
	}
}

// StateRequest asks for the job's state: the question is empty, the answer a status.State.
const StateRequest = "state"
