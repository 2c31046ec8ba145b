package starter

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"banyan/internal/job/agent/secure"
)

// Order is what a follower is told.
type Order struct {
	Build   string   // of the console's banyan
	Number  int      // of the agent
	Connect []string // where the agents' listener is, as HOST:PORT
	Dir     string   // to start in
	Umask   int
	Files   []File // the programs
}

// File is a program of the job.
type File struct {
	Path string // absolute, or relative to the directory to start in
	Sum  string // SHA-256, in hexadecimal digits
}

// maxOrder bounds an order.
const maxOrder = 1 << 20

// write writes an order and the key.
func (o *Order) write(w io.Writer, key secure.Key) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("order %d\n", len(text))
	_, err = w.Write(append(append([]byte(head), text...), key.Line()...))
	return err
}

// readOrder reads an order and the key, and no byte behind them.
func readOrder(r io.Reader) (o Order, key secure.Key, err error) {
	head := make([]byte, 0, 32)
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, b); err != nil {
			return o, key, fmt.Errorf("no order came: %w", err)
		}
		if b[0] == '\n' {
			break
		}
		if head = append(head, b[0]); len(head) == cap(head) {
			return o, key, errors.New("what came is no order")
		}
	}
	text, ok := strings.CutPrefix(string(head), "order ")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 0 || n > maxOrder {
		return o, key, fmt.Errorf("%q begins no order", head)
	}
	// The length isn't believed before the bytes have come.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(body) < n {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return o, key, fmt.Errorf("the order: %w", err)
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return o, key, fmt.Errorf("the order: %w", err)
	}
	key, err = secure.ReadKey(r)
	return o, key, err
}

// A word is what a follower says to its console, a line of stdout that begins with mark.
type word struct {
	Kind kind   `json:"kind"`
	Text string `json:"text,omitempty"`
}

type kind string

const (
	hello  kind = "hello"  // the follower waits for its order
	ready  kind = "ready"  // the agent begins
	failed kind = "failed" // the agent can't begin; the text says why
)

// mark begins a follower's word, so that what a login shell prints isn't taken for one.
const mark = "\x1ebanyan "

func (w word) write(to io.Writer) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	_, err = to.Write(append(append([]byte(mark), text...), '\n'))
	return err
}

// parseWord reads a line. It returns false if the line is no word.
func parseWord(text string) (w word, ok bool) {
	text, ok = strings.CutPrefix(text, mark)
	ok = ok && json.Unmarshal([]byte(text), &w) == nil
	return w, ok
}

// maxLine is how long a line of a follower may be. What is longer comes in pieces.
const maxLine = 1 << 20

// eachLine calls f for each line of r, until r ends.
func eachLine(r io.Reader, f func(text string)) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var whole []byte
	for {
		piece, err := lines.ReadSlice('\n')
		whole = append(whole, piece...)
		if errors.Is(err, bufio.ErrBufferFull) && len(whole) < maxLine {
			continue
		}
		if text := strings.TrimRight(string(whole), "\r\n"); text != "" {
			f(text)
		}
		whole = whole[:0]
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
