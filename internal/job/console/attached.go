package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// attached is a console, on the launcher's side.
type attached struct {
	l     *link
	asked Attachment
	next  [streams]int64 // what was sent
	taken int64          // input of which it was told that the job has it
	gone  bool
}

// attach serves a console until its connection ends.
func (h *Hub) attach(l *link, body []byte, job string) {
	var a Attachment
	if json.Unmarshal(body, &a) != nil {
		return
	}
	c, welcome, err := h.enter(l, a)
	if errors.Is(err, ErrEnded) {
		return // what is kept of the job, if anything, says how
	}
	if err != nil {
		l.send(&Frame{Kind: Refusal, Text: err.Error()}, Silence)
		return
	}
	sent := make(chan struct{})
	defer func() {
		h.leave(c)
		l.conn.Close() // which ends a Write that is under way
		<-sent
	}()
	welcome.Job = job
	text, _ := json.Marshal(welcome) // of numbers and names: it can't fail
	if l.send(&Frame{Kind: Welcome, Data: text}, Silence) != nil {
		close(sent)
		return
	}
	go func() {
		h.show(c)
		close(sent)
	}()
	for {
		f, err := l.receive()
		if err != nil || h.take(c, &f) != nil || f.Kind == Done {
			return
		}
	}
}

// enter notes a console.
func (h *Hub) enter(l *link, a Attachment) (*attached, Welcomed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !a.Watch {
		late := time.AfterFunc(ownerPatience, h.changed.Broadcast)
		defer late.Stop()
		for until := time.Now().Add(ownerPatience); h.owner != nil && time.Now().Before(until); {
			h.changed.Wait()
		}
	}
	if h.closed {
		return nil, Welcomed{}, ErrEnded
	}
	c := &attached{l: l, asked: a}
	owner := !a.Watch && h.owner == nil
	switch out := &h.streams[Stdout]; {
	case a.File != "" && !owner:
		return nil, Welcomed{}, fmt.Errorf("another console shows the job: the output can't go to a file")
	case a.File != "":
		at := out.place(a, h.bases)
		if h.rebased != nil {
			h.rebased()
		}
		out.ack(at) // the file has it
	}
	for s := range h.streams {
		c.next[s] = h.streams[s].acked
	}
	if owner {
		h.owner, c.taken = c, h.input.come
	}
	h.attached[c] = struct{}{}
	h.changed.Broadcast()
	return c, Welcomed{Owner: owner, Begin: c.next, Input: h.input.come, InputEnded: h.input.ended}, nil
}

// leave forgets a console.
func (h *Hub) leave(c *attached) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.gone = true
	delete(h.attached, c)
	if h.owner == c {
		h.owner = nil
	}
	h.changed.Broadcast()
}

// take takes what a console sends.
func (h *Hub) take(c *attached, f *Frame) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.changed.Broadcast()
	owner := h.owner == c
	switch {
	case f.Kind == Beat, !owner && (f.Kind == Ack || f.Kind == Done):
	case !owner:
		return ErrCorrupt
	case f.Kind == Ack:
		return h.streams[f.Stream].ack(f.Offset)
	case f.Kind == Input:
		return h.input.add(f)
	case f.Kind == Signal && f.Number > 0 && f.Number < 65:
		select {
		case h.signals <- syscall.Signal(f.Number):
		default: // it has enough
		}
	case f.Kind == Done && h.ended:
		for s := range h.streams {
			h.streams[s].ack(h.streams[s].end())
		}
		h.shown = true
	default:
		return ErrCorrupt
	}
	return nil
}

// show sends a console what there is for it, until it has gone or has been told of the end.
func (h *Hub) show(c *attached) {
	buf := make([]byte, MaxPiece)
	toldStart, turn := false, Stdout
	h.mu.Lock()
	defer h.mu.Unlock()
	for !c.gone {
		f := Frame{}
		for range h.streams {
			turn = (turn + 1) % streams // so that neither keeps the other waiting
			if c.asked.Starting && (turn == Stdout || h.started && c.next[Stderr] >= h.messages) {
				continue // that is for the next console
			}
			if at, n := h.streams[turn].piece(c.next[turn], buf); n > 0 {
				f = Frame{Kind: Output, Stream: turn, Offset: at, Data: buf[:n]}
				c.next[turn] = at + int64(n)
				break
			}
		}
		switch {
		case f.Kind != 0:
		case h.started && !toldStart:
			f.Kind, toldStart = Started, true
		case h.owner == c && c.taken < h.input.taken():
			c.taken = h.input.taken()
			f = Frame{Kind: InputAck, Offset: c.taken}
		case h.ended:
			f = Frame{Kind: Exit, Number: h.code}
		default:
			h.changed.Wait()
			continue
		}
		h.mu.Unlock()
		err := c.l.send(&f, 0)
		h.mu.Lock()
		if err != nil || f.Kind == Exit {
			return
		}
	}
}
