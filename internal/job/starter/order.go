package starter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"banyan/internal/job/agent/secure"
)

// Order is what followers are told.
type Order struct {
	Build   string   // of the console's banyan
	Connect []string // where the agents' listener is, as HOST:PORT
	Dir     string   // to start in
	Umask   int
	Files   []File   // must be the same on all hosts
	Stage   []string // what is missing is fetched there (HOST:PORT); empty: nothing may be missing

	Agents []Agent // this order is for: one, or several that find themselves by their hosts' names
	Branch []Agent // to be started by the one
	How    How     // to start them
	Self   string  // the path of banyan, for How
}

// Agent is an agent that is to be started.
type Agent struct {
	Number int
	Host   string // as How's command gets it
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
