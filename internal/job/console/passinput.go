package console

// sentTail is how much a console keeps of the input that it has sent, for a launcher that takes
// over. It is more than can be on its way: what a launcher reads ahead of the slowest process, with
// what the windows to it and from it to the agent hold.
const sentTail = 2 << 20

// tail is the end of what was sent.
type tail struct {
	buf  []byte
	base int64 // where buf begins
	end  bool  // nothing follows it
}

func (t *tail) to() int64 { return t.base + int64(len(t.buf)) }

func (t *tail) append(b []byte) {
	t.buf = append(t.buf, b...)
	if waste := len(t.buf) - sentTail; waste > sentTail/2 {
		t.buf = append(t.buf[:0], t.buf[waste:]...)
		t.base += int64(waste)
	}
}

// beginInput has the input go to this attachment's job. again says that the launcher is another one
// than that to which the last piece went: it may need some of the input again.
func (c *Console) beginInput(again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live, c.given, c.accepted = c.l, c.welcome.Input, c.welcome.Input
	switch {
	case again && c.given < c.sent.base:
		c.given, c.accepted = c.sent.base, c.sent.base
	case again && c.given <= c.sent.to():
	default:
		c.sent.base, c.sent.buf = c.given, nil
	}
	c.changed.Broadcast()
	if !c.reading {
		c.reading = true
		go c.readInput()
		go c.passInput()
	}
}

// readInput reads the input, until it ends, as far as it can be passed on.
func (c *Console) readInput() {
	buf := make([]byte, min(MaxPiece, inputWindow/2))
	for {
		n, err := c.Stdin.Read(buf)
		c.mu.Lock()
		for n > 0 && (c.live == nil || c.sent.to()-c.accepted > inputWindow) {
			c.changed.Wait()
		}
		c.sent.append(buf[:n])
		c.sent.end = err != nil
		c.changed.Broadcast()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// passInput hands on what was read, at most inputWindow ahead of what the job takes.
func (c *Console) passInput() {
	ended := (*link)(nil) // that was told of the end
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for c.live == nil || c.given-c.accepted > inputWindow || c.given == c.sent.to() && (!c.sent.end || ended == c.live) {
			c.changed.Wait()
		}
		rest := c.sent.buf[c.given-c.sent.base:]
		piece := append([]byte(nil), rest[:min(len(rest), MaxPiece)]...)
		l, f := c.live, Frame{Kind: Input, Offset: c.given, Data: piece, End: c.sent.end && len(piece) == len(rest)}
		c.given += int64(len(piece))
		if f.End {
			ended = l
		}
		c.mu.Unlock()
		l.send(&f, Silence)
		c.mu.Lock()
	}
}
