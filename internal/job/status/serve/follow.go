package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"banyan/internal/job/status"
)

// Agents of other hosts show the job, too. The launcher's Hub tells theirs what it tells browsers,
// in the same words, so each of them can show the job when the launcher is lost: as it was then,
// marked as old, until the next launcher tells it more.

const (
	// feedAlive is how often a Hub says to others that it is there.
	feedAlive = time.Second
	// oldAfter is how long nothing comes from the launcher before what is shown is old.
	oldAfter = 4 * feedAlive
	// longestMessage bounds a message: the whole state of some ten thousand processes.
	longestMessage = 64 << 20
)

// Feed tells another Hub how the job is, until its end or until that takes no more.
func (h *Hub) Feed(to io.Writer) error {
	alive := time.NewTicker(feedAlive)
	defer alive.Stop()
	for {
		over, err := h.feed(h.subscribe(true), to, alive.C)
		if over || err != nil {
			return err
		}
	}
}

// feed writes a reader's messages. If that was too slow, the job isn't over.
func (h *Hub) feed(r *reader, to io.Writer, alive <-chan time.Time) (over bool, err error) {
	defer h.leave(r)
	for {
		message := frame("alive", []byte("{}"))
		select {
		case m, more := <-r.messages:
			if !more {
				h.mu.Lock()
				defer h.mu.Unlock()
				return h.over, nil
			}
			message = m
		case <-alive:
		}
		if _, err := to.Write(message); err != nil {
			return false, err
		}
	}
}

// Follow takes what another Hub tells, until that ends.
func (h *Hub) Follow(from io.Reader) error {
	lines := bufio.NewReaderSize(from, 64<<10)
	for {
		kind, text, err := readFrame(lines)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = h.hear(kind, text)
		}
		if err != nil {
			return err
		}
	}
}

// readFrame reads what frame has made.
func readFrame(from *bufio.Reader) (kind string, text []byte, err error) {
	head, err := readLine(from, "event: ")
	if err != nil {
		return "", nil, err
	}
	if text, err = readLine(from, "data: "); err == nil {
		_, err = readLine(from, "")
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return string(head), text, err
}

var errFrame = errors.New("what the launcher tells of the job makes no sense")

// readLine reads a line that begins with a word, and returns the rest.
func readLine(from *bufio.Reader, word string) (line []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			rest, is := bytes.CutPrefix(line[:len(line)-1], []byte(word))
			if !is || word == "" && len(rest) > 0 {
				return nil, fmt.Errorf("%w: %.40q", errFrame, line)
			}
			return rest, nil
		case len(line) > longestMessage:
			return nil, fmt.Errorf("%w: a message of more than %d bytes", errFrame, longestMessage)
		case err != bufio.ErrBufferFull:
			if err == io.EOF && len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

// hear takes a message, and passes it on.
func (h *Hub) hear(kind string, text []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard = time.Now()
	if h.over {
		return nil
	}
	s, was := h.followed, h.followed != nil && h.followed.Old
	all := func(*reader) bool { return true }
	switch kind {
	case "state":
		s := new(status.State)
		if err := json.Unmarshal(text, s); err != nil || s.Format != status.Format {
			return fmt.Errorf("%w: %v", errFrame, err)
		}
		h.followed = s
	case "news":
		n := new(status.News)
		if err := json.Unmarshal(text, n); err != nil {
			return fmt.Errorf("%w: %v", errFrame, err)
		}
		if s == nil {
			return nil
		}
		s.Hear(n)
		for _, x := range h.sinks {
			x.Put(n.Events)
		}
	case "sample":
		x := new(status.Update)
		if err := json.Unmarshal(text, x); err != nil {
			return fmt.Errorf("%w: %v", errFrame, err)
		}
		if s == nil {
			return nil
		}
		s.HearUpdate(x)
	default: // it is there
		if s == nil || !was {
			return nil
		}
		s.Old = false
		kind, text = "state", h.encoded()
	}
	h.pass(frame(kind, text), all)
	if h.followed.Over != nil {
		h.end()
	}
	return nil
}

// Look marks what is shown as old if nothing is heard of the launcher any more. now is the time.
func (h *Hub) Look(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.followed; s != nil && !s.Old && !h.over && now.Sub(h.heard) > oldAfter {
		s.Old = true
		h.tell("old", struct{}{})
	}
}

// State is the state as JSON, for the next launcher; nil if nothing is known.
func (h *Hub) State() []byte { return h.state() }
