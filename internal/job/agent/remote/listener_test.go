package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
)

// notes are what a listener says of connections that it refused.
type notes struct {
	mu   sync.Mutex
	text []string
}

func (n *notes) take(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = append(n.text, text)
}

func (n *notes) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.text, "\n")
}

// listen is a listener with a key of its own, until the test ends.
func listen(t *testing.T, o Options) *Listener {
	t.Helper()
	l, err := Listen("127.0.0.1:0", secure.NewKey(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// refusal has an agent refused, and returns what both sides say.
func refusal(t *testing.T, o Options, k secure.Key, c Config) (launcher, agent string) {
	t.Helper()
	var n notes
	o.Note = n.take
	l := listen(t, o)
	if k == (secure.Key{}) {
		k = l.key
	}
	c.Addresses, c.Key, c.Agent = l.Addresses(), k, newFake("h")
	err := Serve(soon(t), c)
	if err == nil {
		t.Fatal("no error")
	}
	until(t, "the launcher says it", func() bool { return n.all() != "" })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, missing := l.Expect(ctx, c.Number); missing == nil || !strings.Contains(missing.Error(), "refused") {
		t.Errorf("%v", missing)
	}
	if strings.Contains(n.all()+err.Error(), "\n") {
		t.Errorf("not one line:\n%s\n%v", n.all(), err)
	}
	return n.all(), err.Error()
}

func TestOtherKeyIsRefused(t *testing.T) {
	launcher, agent := refusal(t, Options{}, secure.NewKey(), Config{})
	if !strings.Contains(launcher, "another job's key") || !strings.Contains(agent, "another job's key") {
		t.Errorf("%s\n%s", launcher, agent)
	}
}

func TestOtherBuildIsRefused(t *testing.T) {
	launcher, agent := refusal(t, Options{build: "abc"}, secure.Key{}, Config{Number: 3, build: "xyz"})
	if !strings.Contains(launcher, "the agent is another build of Banyan (xyz) than this side (abc)") ||
		!strings.Contains(agent, "the launcher is another build of Banyan (abc) than this side (xyz)") || !strings.Contains(launcher, "agent 3") {
		t.Errorf("%s\n%s", launcher, agent)
	}
}

// greetAs connects as an agent and says a hello of the test's own.
func greetAs(t *testing.T, l *Listener, number int, hello wire.Greeting) (kind wire.Kind, answer wire.Greeting) {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	c, err := secure.Dial(soon(t), conn, l.key, number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	f, _ := hello.Frame(wire.Hello)
	c.Write(wire.Append(nil, f))
	got, err := wire.NewReader(c).Read()
	if err != nil {
		t.Fatal(err)
	}
	g, err := got.Greeting()
	if err != nil {
		t.Fatal(err)
	}
	return got.Kind, g
}

func TestHellosAreRefused(t *testing.T) {
	l := listen(t, Options{Term: 5})
	fine := wire.Greeting{Version: wire.Version, Build: l.options.build, Instance: 9, Term: 5}
	fine.Request.At = 1
	for name, change := range map[string]func(*wire.Greeting){
		"version":      func(g *wire.Greeting) { g.Version++ },
		"build":        func(g *wire.Greeting) { g.Build = "x" },
		"term":         func(g *wire.Greeting) { g.Term = 6 },
		"doesn't know": func(g *wire.Greeting) { g.Request.Has = 1 },
		"protocol":     func(g *wire.Greeting) { g.Instance = 0 },
	} {
		g := fine
		change(&g)
		if kind, answer := greetAs(t, l, 1, g); kind != wire.Refusal || !strings.Contains(answer.Text, name) {
			t.Errorf("%s: kind %d, %+v", name, kind, answer)
		}
	}
	if kind, answer := greetAs(t, l, 1, fine); kind != wire.Welcome || answer.Term != 5 || answer.Grant.At != 1 {
		t.Errorf("%+v", answer)
	}
	other := fine
	other.Instance++
	if kind, answer := greetAs(t, l, 1, other); kind != wire.Refusal || !strings.Contains(answer.Text, "already") {
		t.Errorf("%+v", answer)
	}
	if kind, _ := greetAs(t, l, 1, fine); kind != wire.Welcome {
		t.Error("the same agent was refused")
	}
}

// Strangers that connect and say nothing, or anything, keep no agent out.
func TestStrangers(t *testing.T) {
	var n notes
	l := listen(t, Options{Note: n.take})
	for i := range 200 {
		c, err := net.Dial("tcp", l.Addresses()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			io.WriteString(c, "GET / HTTP/1.0\r\n\r\n")
		}
	}
	go Serve(soon(t), Config{Addresses: l.Addresses(), Key: l.key, Agent: newFake("h")})
	if _, err := l.Expect(soon(t), 0); err != nil {
		t.Error(err)
	}
}

// A number whose host was lost can come again, as another agent. That one may be there earlier than
// the loss is known: it asks again.
func TestNumberAgain(t *testing.T) {
	var n notes
	r := newRig(t, Options{Note: n.take})
	go Serve(soon(t), Config{Addresses: r.Addresses(), Number: 1, Key: r.key, Agent: newFake("h2")})
	until(t, "it is refused", func() bool { return strings.Contains(n.all(), "already") })
	r.stop()
	r.end()
	<-r.remote.Lost()
	again, err := r.Next(soon(t))
	if err != nil || again == r.remote || again.Host().Name != "h2" {
		t.Error(again, err)
	}
}

// Next returns each agent once, the lowest number first, and none that Expect has returned.
func TestNext(t *testing.T) {
	l := listen(t, Options{})
	for number := range 4 {
		go Serve(soon(t), Config{Addresses: l.Addresses(), Number: number, Key: l.key, Agent: newFake("h")})
	}
	until(t, "all have come", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.agents) == 4 })
	if _, err := l.Expect(soon(t), 1); err != nil {
		t.Error(err)
	}
	for _, number := range []int{0, 2, 3} {
		if r, err := l.Next(soon(t)); err != nil || r.Number() != number {
			t.Errorf("%v, %v, not agent %d", r, err, number)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if r, err := l.Next(ctx); err == nil {
		t.Errorf("agent %d twice", r.Number())
	}
	go l.Close()
	if _, err := l.Next(soon(t)); err == nil {
		t.Error("an agent of a closed listener")
	}
}

// An agent waits for a launcher that isn't there yet, up to a limit, and finds it at any address.
func TestAgentWaits(t *testing.T) {
	k := secure.NewKey()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := nobody.Addr().String()
	nobody.Close()
	f := newFake("h")
	if err := Serve(t.Context(), Config{Addresses: []string{free}, Key: k, Agent: f, Limit: 100 * time.Millisecond}); err == nil ||
		!strings.Contains(err.Error(), "no launcher within 100ms") {
		t.Error(err)
	}
	<-f.closed
	served := make(chan error, 1)
	go func() {
		served <- Serve(soon(t), Config{Addresses: []string{"127.0.0.1:1", "[::1]:1", free}, Key: k, Agent: newFake("h")})
	}()
	time.Sleep(100 * time.Millisecond)
	l, err := Listen(free, k, Options{})
	if err != nil {
		t.Skip("the port was taken: ", err)
	}
	if _, err := l.Expect(soon(t), 0); err != nil {
		t.Error(err)
	}
	l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A name stands for many hosts, of which one has the launcher. Others refuse connections, or take
// them and say nothing.
func TestNameOfManyHosts(t *testing.T) {
	k := secure.NewKey()
	l, err := Listen("127.0.0.4:0", k, Options{})
	if err != nil {
		t.Skip("no such address: ", err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addresses()[0])
	silent, err := net.Listen("tcp", "127.0.0.3:"+port)
	if err != nil {
		t.Skip("the port was taken: ", err)
	}
	defer silent.Close()
	lookup := func(_ context.Context, host string) ([]string, error) {
		if host != "job" {
			return nil, errors.New("no such host")
		}
		return []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"}, nil
	}
	served := make(chan error, 1)
	go func() {
		served <- Serve(soon(t), Config{Addresses: []string{"console-0.job:" + port, "job:" + port}, Key: k, Agent: newFake("h"), lookup: lookup})
	}()
	if _, err := l.Expect(soon(t), 0); err != nil {
		t.Error(err)
	}
	l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A launcher that takes over waits for the agents that the one before had. Another agent of such a
// number may come when that one is known to be dead.
func TestVacate(t *testing.T) {
	var n notes
	k := secure.NewKey()
	l, err := Listen("127.0.0.1:0", k, Options{Term: 2, Adopt: true, Verdicts: true, Known: map[int]uint64{1: 77}, Note: n.take})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go Serve(soon(t), Config{Addresses: l.Addresses(), Number: 1, Key: k, Agent: newFake("new")})
	until(t, "it is refused", func() bool { return strings.Contains(n.all(), "isn't known to be lost") })
	l.Vacate(1, 76)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if r, err := l.Next(ctx); err == nil {
		t.Fatalf("agent %d has come in place of another one", r.Number())
	}
	l.Vacate(1, 77)
	if r, err := l.Next(soon(t)); err != nil || r.Host().Name != "new" || !r.New() {
		t.Error(r, err)
	}
}

// Commands of an older term than one that was heard aren't carried out.
func TestOlderTerm(t *testing.T) {
	r := newRig(t, Options{Term: 3})
	p := r.start(agent.Spec{Proc: 2})[0]
	there := r.fake.process(key{2, 0})
	m := p.(*process).message(wire.Signal, func(m *wire.Message) { m.Signal = 10 })
	for _, term := range []uint64{2, 4, 3, 4} { // Remote says its own; so these are written past it
		m.Term, m.Signal = term, 20+int(term)
		b, _ := wire.AppendMessage(nil, &m)
		r.remote.commands.Write(b)
	}
	until(t, "the last signal", func() bool { there.mu.Lock(); defer there.mu.Unlock(); return len(there.signals) >= 2 })
	there.mu.Lock()
	defer there.mu.Unlock()
	if len(there.signals) != 2 || there.signals[0] != 24 || there.signals[1] != 24 {
		t.Errorf("%v", there.signals)
	}
}
