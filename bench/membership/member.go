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

// The bench starts its own program again for its processes. What one is to do stands in
// env.BenchMembership.
// task is what a member is told.
type task struct {
	Board  string   `json:"board,omitempty"` // its path
	Rows   int      `json:"rows,omitempty"`
	Row    int      `json:"row"`
	Arity  int      `json:"arity,omitempty"`
	Seeds  []string `json:"seeds,omitempty"`
	Secret []byte   `json:"secret,omitempty"`
	Host   bool     `json:"host,omitempty"` // it is none, but has some

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
	// Heartbeats are rare, and silence is borne for long: a process that dies is known by its
	// connections, and a busy machine must not make a false suspicion.
	heartbeatPeriod  = time.Second
	heartbeatTimeout = 20 * time.Second
	// joinLimit bounds a member's way into the group.
	joinLimit = time.Minute
)

// join makes a member that records itself on a board.
func (t task) join(ctx context.Context, b *board) (*groupnode.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	r := recorder{b, t.Row}
	m, err := groupnode.Join(ctx, groupnode.Config{
		Name: "member " + strconv.Itoa(t.Row), Seeds: t.Seeds, Secret: t.Secret, Arity: t.Arity,
		Period: heartbeatPeriod, Timeout: heartbeatTimeout, Observer: r, // and it gathers for no time
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

// Perform does what the process was started for, and returns an error if it can't or
// needn't any more. It is what the program does when Plan.Again is how it was called.
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
	b, err := openBoard(t.Board, t.Rows)
	if err != nil {
		return fmt.Errorf("the board: %w", err)
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
