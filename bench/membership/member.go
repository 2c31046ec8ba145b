package membership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"banyan/bench/processes"
	"banyan/internal/groupnode"
	"banyan/internal/job/env"
)

// The bench starts its own program again for its processes. env.BenchMembership says what a
// process is to do. task is what a member is told.
type task struct {
	Scoreboard string        `json:"scoreboard,omitempty"` // its path
	Rows       int           `json:"rows,omitempty"`
	Row        int           `json:"row"`
	Arity      int           `json:"arity,omitempty"`
	Seeds      []string      `json:"seeds,omitempty"`
	Secret     []byte        `json:"secret,omitempty"`
	Gather     time.Duration `json:"gather,omitempty"`
	Host       bool          `json:"host,omitempty"` // it isn't a member, but has some

	// Echo is an address of a ping-pong, with messages of Size bytes. It is the other thing a
	// process can do.
	Echo string `json:"echo,omitempty"`
	Size int    `json:"size,omitempty"`
}

func (t task) env() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and numbers
	}
	return env.BenchMembership + "=" + string(b)
}

const (
	// Heartbeats are rare, and the time-out is long: the others learn from its connections that a
	// process died, and a busy machine must not cause a false suspicion.
	heartbeatPeriod  = time.Second
	heartbeatTimeout = 20 * time.Second
	// joinLimit bounds the time that a member takes to join the group.
	joinLimit = time.Minute
)

// join makes a member that records itself on a scoreboard.
func (t task) join(ctx context.Context, b *scoreboard) (*groupnode.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	r := recorder{b, t.Row}
	m, err := groupnode.Join(ctx, groupnode.Config{
		Name: "member " + strconv.Itoa(t.Row), Seeds: t.Seeds, Secret: t.Secret, Arity: t.Arity,
		Period: heartbeatPeriod, Timeout: heartbeatTimeout, Gather: t.Gather, Observer: r,
	})
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(m.Card().Address)
	if err == nil {
		var n int64
		n, err = strconv.ParseInt(port, 10, 64)
		r.word(wordPort).Store(n)
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Perform does what the process was started for, and returns an error if it can't or needn't any
// more. A program that is started as Plan.Again says calls it.
func Perform() error {
	s := os.Getenv(env.BenchMembership)
	if s == "" {
		return errors.New("this is a part of banyan bench membership, which starts it when needed")
	}
	var t task
	if err := json.Unmarshal([]byte(s), &t); err != nil {
		return fmt.Errorf("%s: %w", env.BenchMembership, err)
	}
	os.Unsetenv(env.BenchMembership)
	if t.Echo != "" {
		return processes.Echo(t.Echo, t.Size)
	}
	b, err := openScoreboard(t.Scoreboard, t.Rows)
	if err != nil {
		return fmt.Errorf("the scoreboard: %w", err)
	}
	if t.Host {
		return serve(b)
	}
	m, err := t.join(context.Background(), b)
	if err != nil {
		return fmt.Errorf("member %d: %w", t.Row, err)
	}
	recorder{b, t.Row}.isUp()
	for m.Err() == nil { // until it is killed
		time.Sleep(time.Second)
	}
	return fmt.Errorf("member %d: %w", t.Row, m.Err())
}
