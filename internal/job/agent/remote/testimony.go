package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// What the agent had passed on before it died comes first.
	r.link.AwaitIdle(cmp.Or(l.options.rest, restLimit))
	if r.isClosing() {
		r.link.End(errClosed)
	} else {
		r.lose("its agent has died with its processes: "+g.Dead, true)
	}
	return ""
}
