package group_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"banyan/group"
)

var secret = []byte("a secret of the test")

// In these tests a member is silent only by mistake, on a busy machine.
const (
	period  = 50 * time.Millisecond
	silence = 5 * time.Second
)

func config(name string, seeds ...string) group.Config {
	return group.Config{Name: name, Seeds: seeds, Secret: secret, HeartbeatPeriod: period, HeartbeatTimeout: silence}
}

func tryJoin(t *testing.T, cfg group.Config) (*group.Member, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return group.Join(ctx, cfg)
}

func join(t *testing.T, cfg group.Config) *group.Member {
	t.Helper()
	m, err := tryJoin(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// await reads views until there is a suitable one.
func await(t *testing.T, m *group.Member, what string, will func(*group.View) bool) group.View {
	t.Helper()
	for limit := time.After(10 * time.Second); ; {
		select {
		case v, ok := <-m.Views():
			if !ok {
				t.Fatalf("%v ended (%v) without a view %s", m.Self(), m.Err(), what)
			}
			if will(&v) {
				return v
			}
		case <-limit:
			t.Fatalf("%v had no view %s", m.Self(), what)
		}
	}
}

func names(list []group.Identity) string {
	var b []string
	for _, x := range list {
		b = append(b, x.Name)
	}
	return strings.Join(b, " ")
}

// One member founds a group, others join, one leaves, one dies, one comes back: the views say so.
func TestComingAndGoing(t *testing.T) {
	a := join(t, config("a"))
	seed := a.Self().Address
	b, c, d := join(t, config("b", seed)), join(t, config("c", seed)), join(t, config("d", seed))
	if err := d.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(d.Err(), group.ErrLeft) {
		t.Errorf("who left: %v", d.Err())
	}
	v := await(t, b, "without d", func(v *group.View) bool { return len(v.Left) > 0 })
	if names(v.Members) != "a b c" || names(v.Left) != "d" || len(v.Died) > 0 || len(v.Joined) > 0 {
		t.Errorf("after d left: %+v", v)
	}
	a.Close() // the coordinator
	v = await(t, c, "without a", func(v *group.View) bool { return len(v.Died) > 0 })
	if names(v.Members) != "b c" || v.Died[0].Name != "a" || v.Died[0].Cause != group.Ended {
		t.Errorf("after a died: %+v", v)
	}
	again := join(t, config("a", b.Self().Address))
	v = await(t, again, "of its own", func(v *group.View) bool { return true })
	if names(v.Members) != "b c a" || v.Joined[0] != again.Self() || again.Self().Incarnation <= a.Self().Incarnation {
		t.Errorf("after a came back: %+v", v)
	}
	if v.Position("a") != 2 || v.Position("d") != -1 {
		t.Errorf("positions %d and %d", v.Position("a"), v.Position("d"))
	}
	if err := a.Leave(t.Context()); !errors.Is(err, group.ErrClosed) {
		t.Errorf("who was closed leaves: %v", err)
	}
}

// The latest view is known without reading those before, and after the end.
func TestLatest(t *testing.T) {
	anna := join(t, config("anna"))
	if v := anna.Latest(); v.Number != 1 || len(v.Members) != 1 {
		t.Errorf("at first %+v", v)
	}
	bert := join(t, config("bert", anna.Self().Address))
	read := await(t, anna, "bert", func(v *group.View) bool { return len(v.Members) == 2 })
	if a, b := anna.Latest(), bert.Latest(); a.Token != read.Token || b.Token != read.Token {
		t.Errorf("tokens %d and %d, read %d", a.Token, b.Token, read.Token)
	}
	anna.Close()
	if v := anna.Latest(); v.Token != read.Token {
		t.Errorf("after the end %+v", v)
	}
}

// Of two members either goes on when the other is certainly gone.
func TestLastOfTwo(t *testing.T) {
	for _, senior := range []bool{true, false} {
		t.Run(fmt.Sprint("senior=", senior), func(t *testing.T) {
			a := join(t, config("a"))
			b := join(t, config("b", a.Self().Address))
			stays, goes := a, b
			if senior {
				stays, goes = b, a
			}
			goes.Close()
			v := await(t, stays, "alone", func(v *group.View) bool { return len(v.Died) == 1 })
			if len(v.Members) != 1 {
				t.Errorf("%+v", v)
			}
			if err := stays.Leave(t.Context()); err != nil { // the last one may leave
				t.Error(err)
			}
		})
	}
}

// Most of a group dies at once, neighbours on the ring. The others have seen them end, so they go
// on.
func TestMostDie(t *testing.T) {
	a := join(t, config("0"))
	members := []*group.Member{a}
	for i := 1; i < 8; i++ {
		members = append(members, join(t, config(fmt.Sprint(i), a.Self().Address)))
	}
	for _, i := range []int{1, 0, 4, 3, 2} {
		members[i].Close()
	}
	for _, i := range []int{5, 6, 7} {
		await(t, members[i], "of three", func(v *group.View) bool { return names(v.Members) == "5 6 7" })
	}
}

func TestNameInUse(t *testing.T) {
	a := join(t, config("a"))
	b := join(t, config("b", a.Self().Address))
	for _, name := range []string{"a", "b"} {
		if _, err := tryJoin(t, config(name, b.Self().Address)); !errors.Is(err, group.ErrNameInUse) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	c := join(t, config("c", a.Self().Address))
	if v := <-c.Views(); names(v.Members) != "a b c" {
		t.Errorf("afterwards: %+v", v)
	}
}

// All join at once, by any seed, even by seeds that are joining themselves.
func TestManyJoin(t *testing.T) {
	a := join(t, config("a"))
	const n = 24
	cfgs := make([]group.Config, n)
	seeds := []string{a.Self().Address}
	done := make(chan *group.Member, n)
	for i := range cfgs {
		cfgs[i] = config(fmt.Sprint("m", i), seeds...)
		go func() {
			m, err := tryJoin(t, cfgs[i])
			if err != nil {
				t.Error(err)
			}
			done <- m
		}()
	}
	members := []*group.Member{a}
	for range n {
		if m := <-done; m != nil {
			t.Cleanup(m.Close)
			members = append(members, m)
		}
	}
	for _, m := range members {
		v := await(t, m, "of all", func(v *group.View) bool { return len(v.Members) == n+1 })
		if v.Number > n+1 {
			t.Errorf("it took %d views", v.Number)
		}
	}
}

// A program that doesn't read its views makes no member wait, and loses no view.
func TestSlowProgram(t *testing.T) {
	a := join(t, config("a"))
	b := join(t, config("b", a.Self().Address))
	const times = 20
	for range times {
		c := join(t, config("c", a.Self().Address))
		if err := c.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []*group.Member{a, b} {
		first := uint64(m.Self().Incarnation) // view 1 and 2
		for want := first; want <= 2+2*times; want++ {
			if v := <-m.Views(); v.Number != want {
				t.Fatalf("%v: view %d, want %d", m.Self(), v.Number, want)
			}
		}
	}
}

// A member leaves even if the caller of Leave doesn't wait for it.
func TestLeaveWithoutWaiting(t *testing.T) {
	a := join(t, config("a"))
	b := join(t, config("b", a.Self().Address))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Leave(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	await(t, a, "without b", func(v *group.View) bool { return len(v.Left) == 1 })
	for range b.Views() {
	}
	if !errors.Is(b.Err(), group.ErrLeft) {
		t.Error(b.Err())
	}
}

// All leave at once. There is no view without members, so the last one waits for the others.
func TestAllLeave(t *testing.T) {
	a := join(t, config("a"))
	members := []*group.Member{a}
	for i := range 5 {
		members = append(members, join(t, config(fmt.Sprint("m", i), a.Self().Address)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done := make(chan error, len(members))
	for _, m := range members {
		go func() { done <- m.Leave(ctx) }()
	}
	for range members {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestBadConfig(t *testing.T) {
	for field, change := range map[string]func(*group.Config){
		"Name":             func(c *group.Config) { c.Name = "" },
		"Name: name":       func(c *group.Config) { c.Name = "a\nb" },
		"Secret":           func(c *group.Config) { c.Secret = []byte("short") },
		"Arity":            func(c *group.Config) { c.Arity = 3 },
		"Seeds":            func(c *group.Config) { c.Seeds = []string{"nowhere"} },
		"Listen":           func(c *group.Config) { c.Listen = "nowhere" },
		"Listen: 0.0.0.0":  func(c *group.Config) { c.Listen = "0.0.0.0:0" },
		"Advertise":        func(c *group.Config) { c.Listen, c.Advertise = "0.0.0.0:0", "[::]:7" },
		"HeartbeatPeriod":  func(c *group.Config) { c.HeartbeatPeriod = time.Nanosecond },
		"HeartbeatTimeout": func(c *group.Config) { c.HeartbeatTimeout = 3 * c.HeartbeatPeriod },
	} {
		cfg := config("a")
		change(&cfg)
		m, err := tryJoin(t, cfg)
		if err == nil {
			m.Close()
		}
		if !errors.Is(err, group.ErrConfig) || !strings.HasPrefix(err.Error(), "config: "+strings.Split(field, ":")[0]+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Join ends with its context, and says which addresses it tried.
func TestNobodyThere(t *testing.T) {
	gone := join(t, config("gone"))
	gone.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := group.Join(ctx, config("a", gone.Self().Address))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), gone.Self().Address) {
		t.Error(err)
	}
}

// Members with different trees would wait for each other for ever, and a member with a longer
// period would be taken for dead. So the group refuses a joiner with other settings, and says
// why.
func TestOtherSettings(t *testing.T) {
	a := join(t, config("a"))
	for field, change := range map[string]func(*group.Config){
		"Arity 4":              func(c *group.Config) { c.Arity = 4 },
		"HeartbeatPeriod 51ms": func(c *group.Config) { c.HeartbeatPeriod += time.Millisecond },
		"HeartbeatTimeout 6s":  func(c *group.Config) { c.HeartbeatTimeout += time.Second },
	} {
		cfg := config("b", a.Self().Address)
		change(&cfg)
		if _, err := tryJoin(t, cfg); !errors.Is(err, group.ErrRefused) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestWrongSecret(t *testing.T) {
	var log strings.Builder
	cfg := config("a")
	cfg.Logger = slog.New(slog.NewTextHandler(io.Writer(&log), nil))
	a := join(t, cfg)
	other := config("b", a.Self().Address)
	other.Secret = []byte("another secret, as long")
	if _, err := tryJoin(t, other); !errors.Is(err, group.ErrSecret) {
		t.Error(err)
	}
	b := join(t, config("b", a.Self().Address))
	if v := <-b.Views(); names(v.Members) != "a b" || v.Number != 2 {
		t.Errorf("%+v", v)
	}
	a.Close()
	if strings.Count(log.String(), "connection refused") != 1 {
		t.Errorf("the log doesn't tell of the stranger once:\n%s", log.String())
	}
}
