package contention

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"banyan/bench/processes"
)

const (
	// limit bounds what a node waits for: a connection, an answer, the word to begin.
	limit = 20 * time.Second
	// warmUp is how long rounds aren't counted at the beginning of a run.
	warmUp = Span / 10
)

// order tells a node what to do, as a line of JSON on its standard input. The first one says which
// node it is.
type order struct {
	Scoreboard string `json:"scoreboard,omitempty"` // path of the scoreboard
	Rows       int    `json:"rows,omitempty"`
	Row        int    `json:"row,omitempty"`

	// Of later ones: a parent's part of a run.
	Epoch    int64    `json:"epoch,omitempty"` // which run
	Children []string `json:"children,omitempty"`
	Size     int      `json:"size,omitempty"`
	Pause    int64    `json:"pause,omitempty"` // ns
}

// Perform does what a node was started for, and returns an error when it can't or needn't any
// more. A program that is started as Plan.Again says calls it.
func Perform() error {
	in := json.NewDecoder(os.Stdin)
	var first order
	if err := in.Decode(&first); err != nil || first.Scoreboard == "" {
		return errors.New("this is a part of banyan bench contention, which starts it when needed")
	}
	b, err := openScoreboard(first.Scoreboard, first.Rows)
	if err != nil {
		return fmt.Errorf("the scoreboard: %w", err)
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	go answerAll(l)
	b.word(first.Row, wordPort).Store(int64(l.Addr().(*net.TCPAddr).Port))
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			return fmt.Errorf("orders: %w", err)
		}
		if err := o.lead(b, first.Row); err != nil {
			return fmt.Errorf("node %d: %w", first.Row, err)
		}
	}
}

// answerAll is a child's part: what a parent sends goes back to it. A connection's first bytes say
// how large its messages are.
func answerAll(l *net.TCPListener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // the process ends
		}
		go func() {
			defer c.Close()
			var size [4]byte
			if _, err := io.ReadFull(c, size[:]); err != nil {
				return
			}
			message := make([]byte, int(size[0])|int(size[1])<<8|int(size[2])<<16|int(size[3])<<24)
			for {
				if _, err := io.ReadFull(c, message); err != nil {
					return // the parent has hung up
				}
				if _, err := c.Write(message); err != nil {
					return
				}
			}
		}()
	}
}

// lead is a parent's part of a run: it connects to its children, waits for the common beginning,
// and notes how long half a round trip takes it. That is the median, so that rounds in which the
// machine did something else count little.
func (o *order) lead(b *scoreboard, row int) error {
	var links []net.Conn
	defer func() {
		for _, c := range links {
			c.Close()
		}
	}()
	for _, address := range o.Children {
		c, err := net.DialTimeout("tcp", address, limit)
		if err != nil {
			return err
		}
		links = append(links, c)
		if _, err := c.Write([]byte{byte(o.Size), byte(o.Size >> 8), byte(o.Size >> 16), byte(o.Size >> 24)}); err != nil {
			return err
		}
	}
	message := make([]byte, o.Size)
	round := func() error {
		deadline := time.Now().Add(limit)
		for _, c := range links {
			c.SetDeadline(deadline)
			if _, err := c.Write(message); err != nil {
				return err
			}
		}
		for _, c := range links {
			if _, err := io.ReadFull(c, message); err != nil {
				return err
			}
		}
		return nil
	}
	if err := round(); err != nil { // all ends are ready then
		return err
	}
	b.word(row, wordReady).Store(o.Epoch)
	if !processes.WaitFor(nil, limit, func() bool { return b.epoch().Load() == o.Epoch }) {
		return fmt.Errorf("no word to begin after %v", limit)
	}
	begin := b.begin().Load()
	warm, end := begin+int64(warmUp), begin+int64(Span)
	var times []int64
	rounds := int64(0)
	for next := begin; next < end || len(times) == 0; {
		time.Sleep(time.Duration(next - processes.Monotonic()))
		at := processes.Monotonic()
		if err := round(); err != nil {
			return err
		}
		now := processes.Monotonic()
		rounds++
		if at >= warm {
			times = append(times, now-at)
		}
		if next = now; o.Pause > 0 { // the moment at which all groups begin one
			next = begin + ((now-begin)/o.Pause+1)*o.Pause
		}
	}
	slices.Sort(times)
	b.word(row, wordRounds).Store(rounds)
	b.word(row, wordTime).Store(times[len(times)/2] / 2)
	b.word(row, wordDone).Store(o.Epoch)
	return nil
}
