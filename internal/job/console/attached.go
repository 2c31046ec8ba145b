package console

import (
	"encoding/json"
	"errors"
	"syscall"
	"time"
)

// attached is a console, on the launcher's side.
type attached struct {
	l     *link
	asked Attachment
	next  [streams]int64     // up to where the records were sent
	have  [streams]positions // what it has, or was sent
	taken int64              // input of which it was told that the job has it
	gone  bool
}

// attach serves a console until its connection ends.
func (h *Hub) attach(l *link, body []byte, have [streams]positions, job Info) {
	var a Attachment
	if json.Unmarshal(body, &a) != nil {
		return
	}
	c, welcome, err := h.enter(l, a, have)
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
	welcome.Job, welcome.Host, welcome.Reach = job.Name, job.Launcher, job.Reach
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
func (h *Hub) enter(l *link, a Attachment, have [streams]positions) (*attached, Welcomed, error) {
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
	c := &attached{l: l, asked: a, have: have}
	owner := !a.Watch && h.owner == nil
	if a.File && !owner {
		return nil, Welcomed{}, errors.New("another console shows the job: the output can't go to a file")
	}
	for s := range h.streams {
		c.next[s] = h.streams[s].acked
		if a.Launcher != h.name {
			delete(have[s], Launcher) // another one has said that
		}
	}
	if owner {
		h.owner, c.taken = c, h.input.come
	}
	h.attached[c] = struct{}{}
	h.changed.Broadcast()
	return c, Welcomed{Owner: owner, Launcher: h.name, Label: h.label, Input: h.input.come, InputEnded: h.input.ended}, nil
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
	var told []func() // without the lock
	defer func() {
		h.changed.Broadcast()
		h.mu.Unlock()
		for _, t := range told {
			t()
		}
	}()
	ack := func(s Stream, to int64) error {
		return h.streams[s].ack(to, func(source int, to int64) {
			if f := h.onShown; f != nil && source != Launcher {
				told = append(told, func() { f(source, s == Stderr, to) })
			}
		})
	}
	owner := h.owner == c
	switch {
	case f.Kind == Beat, !owner && (f.Kind == Ack || f.Kind == Done):
	case !owner:
		return ErrCorrupt
	case f.Kind == Ack:
		return ack(f.Stream, f.Offset)
	case f.Kind == Input:
		return h.input.add(f)
	case f.Kind == Signal && f.Number > 0 && f.Number < 65:
		select {
		case h.signals <- syscall.Signal(f.Number):
		default: // it has enough
		}
	case f.Kind == Done && h.ended:
		for s := range h.streams {
			ack(Stream(s), h.streams[s].last)
		}
		h.shown = true
	default:
		return ErrCorrupt
	}
	return nil
}

// show sends a console what there is for it, until it has gone or has been told of the end.
func (h *Hub) show(c *attached) {
	var from []From // scratch
	data := make([]byte, 0, MaxPiece)
	toldStart, turn := false, Stdout
	h.mu.Lock()
	defer h.mu.Unlock()
	for !c.gone {
		f := Frame{From: from, Data: data}
		some := false
		for range h.streams {
			turn = (turn + 1) % streams // so that neither keeps the other waiting
			if c.asked.Starting && (turn == Stdout || h.started && c.next[Stderr] >= h.messages) {
				continue // that is for the next console
			}
			if some = h.streams[turn].frame(c.next[turn], c.have[turn], &f); some {
				f.Stream, c.next[turn], from = turn, f.Offset, f.From
				break
			}
		}
		switch {
		case some:
		case h.started && !toldStart:
			f, toldStart = Frame{Kind: Started}, true
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
