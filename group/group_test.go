package group_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/group"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var secret = []byte("a secret of the test")

func config(name string, seeds ...string) group.Config {
	return group.Config{Name: name, Seeds: seeds, Secret: secret, HeartbeatPeriod: 20 * time.Millisecond, HeartbeatTimeout: 400 * time.Millisecond}
}

func join(t *testing.T, cfg group.Config) *group.Member {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	m, err := group.Join(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func TestSmoke(t *testing.T) {
	a := join(t, config("a"))
	seed := a.Self().Address
	ms := []*group.Member{a}
	for i := range 6 {
		ms = append(ms, join(t, config(fmt.Sprint("m", i), seed)))
	}
	fmt.Println("joined")
	if err := ms[3].Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	fmt.Println("left")
	ms[4].Close()
	time.Sleep(100 * time.Millisecond)
	ms[0].Close()
	time.Sleep(100 * time.Millisecond)
	join(t, config("a", ms[1].Self().Address))
	time.Sleep(100 * time.Millisecond)
	for i, m := range ms {
		fmt.Println("member", i, m.Self(), m.Err())
	L:
		for {
			select {
			case v, ok := <-m.Views():
				if !ok {
					break L
				}
				fmt.Println("  ", v)
			default:
				break L
			}
		}
	}
}
