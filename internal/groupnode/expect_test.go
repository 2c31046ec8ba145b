package groupnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// expecting is the configuration that n processes have in common, but for names.
func expecting(t *testing.T, n int, listen, host string) (cfgs []Config, logs []*viewLog) {
	t.Helper()
	var seeds []string
	for i := range n {
		l, err := net.Listen("tcp", listen+":0")
		if err != nil {
			t.Skip("no such address here:", err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		seeds = append(seeds, net.JoinHostPort(host, port))
		d := newViewLog()
		cfg := testConfig(fmt.Sprint("p", i), d)
		cfg.Listen, cfg.Expect = l.Addr().String(), n
		cfg.Period, cfg.Timeout = 20*time.Millisecond, time.Second
		cfgs, logs = append(cfgs, cfg), append(logs, d)
	}
	for i := range cfgs {
		cfgs[i].Seeds = seeds
	}
	return cfgs, logs
}

// joinAll joins with all configurations at the same time.
func joinAll(t *testing.T, cfgs []Config) []*Member {
	t.Helper()
	members := make([]*Member, len(cfgs))
	var all sync.WaitGroup
	for i := range cfgs {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			m, err := Join(ctx, cfgs[i])
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(m.Close)
			members[i] = m
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, m := range members {
		if m.founding != members[0].founding {
			t.Errorf("%s is of another founding", m.card.Name)
		}
	}
	return members
}

// Three processes with the same configuration found one group, whichever is first, over IPv6, too.
// Each has itself among its seeds.
func TestExpect(t *testing.T) {
	t.Parallel()
	for _, listen := range [][2]string{{"127.0.0.1", "127.0.0.1"}, {"[::1]", "::1"}, {"127.0.0.1", "localhost"}} {
		for range 4 {
			cfgs, logs := expecting(t, 3, listen[0], listen[1])
			members := joinAll(t, cfgs)
			for _, d := range logs {
				d.await(t, 3)
			}
			for _, m := range members {
				m.Close()
			}
		}
	}
}

// Two of three don't found, and say what they wait for. With the third they do, and a fourth, of
// the same configuration, only joins.
func TestExpectTooFew(t *testing.T) {
	t.Parallel()
	cfgs, logs := expecting(t, 4, "127.0.0.1", "127.0.0.1")
	for i := range cfgs {
		cfgs[i].Expect = 3
	}
	early := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	go func() {
		_, err := Join(ctx, cfgs[1])
		early <- err
	}()
	_, err := Join(ctx, cfgs[0])
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 of 3 processes are there: [p0 p1]") ||
		!strings.Contains(err.Error(), ": connect: connection refused") {
		t.Errorf("the error says too little: %v", err)
	}
	if err := <-early; err == nil {
		t.Error("two of three found a group")
	}
	joinAll(t, cfgs[:3])
	for _, d := range logs[:3] {
		d.await(t, 3)
	}
	testJoin(t, cfgs[3])
	logs[3].await(t, 4)
}

// All addresses of a name are seeds. Names are looked up again, also when they had none at first.
func TestSeedsByName(t *testing.T) {
	t.Parallel()
	da := newViewLog()
	a := testJoin(t, testConfig("a", da))
	_, port, _ := net.SplitHostPort(a.Card().Address)
	var mu sync.Mutex
	lookups := 0
	cfg := testConfig("b", newViewLog(), net.JoinHostPort("group.example", port))
	cfg.lookup = func(_ context.Context, host string) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		if lookups++; lookups < 2 {
			return nil, errors.New("no such host")
		}
		return []string{"127.0.0.77", "::1", "127.0.0.1"}, nil
	}
	testJoin(t, cfg)
	da.await(t, 2)
}

// rivalLog is an observer that notes other foundings.
type rivalLog struct {
	*viewLog
	mu     sync.Mutex
	rivals []string
}

func (d *rivalLog) Rival(address string, _ Founding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rivals = append(d.rivals, address)
}

func (d *rivalLog) has(address string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.rivals, address)
}

// Two foundings of a group that hear each other say so, both.
func TestRivals(t *testing.T) {
	t.Parallel()
	da, db := &rivalLog{viewLog: newViewLog()}, &rivalLog{viewLog: newViewLog()}
	config := func(name string, d *rivalLog) Config {
		cfg := testConfig(name, d.viewLog)
		cfg.Observer, cfg.Period, cfg.Timeout = d, 5*time.Millisecond, 100*time.Millisecond
		return cfg
	}
	a := testJoin(t, config("a", da))
	// An operator is wrong.
	cfg := config("b", db)
	host, port, _ := net.SplitHostPort(a.Card().Address)
	var up atomic.Bool // the name service
	cfg.Seeds, cfg.Recover = []string{net.JoinHostPort("a.example", port)}, true
	cfg.lookup = func(context.Context, string) ([]string, error) {
		if !up.Load() {
			return nil, errors.New("no such host")
		}
		return []string{host}, nil
	}
	b := testJoin(t, cfg)
	up.Store(true)
	for deadline := time.Now().Add(10 * time.Second); !da.has(b.Card().Address) || !db.has(a.Card().Address); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a knows of b: %v, b of a: %v", da.has(b.Card().Address), db.has(a.Card().Address))
		}
	}
}
