package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// rig is a launcher's listener, an agent that serves a fake, and a proxy between them.
type rig struct {
	*Listener
	t      testing.TB
	key    secure.Key
	proxy  *proxy
	fake   *fake
	served chan error
	stop   context.CancelFunc
	remote *Remote
}

func newRig(t testing.TB, o Options) *rig {
	t.Helper()
	r := &rig{t: t, key: secure.NewKey(), fake: newFake("h1"), served: make(chan error, 1)}
	var err error
	if r.Listener, err = Listen("127.0.0.1:0", r.key, o); err != nil {
		t.Fatal(err)
	}
	r.proxy = newProxy(t, r.Listener.Addresses()[0])
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go func() {
		r.served <- Serve(ctx, Config{Addresses: []string{r.proxy.address()}, Number: 1, Key: r.key, Agent: r.fake})
	}()
	t.Cleanup(func() { r.stop(); r.Listener.Close() })
	if r.remote, err = r.Expect(soon(t), 1); err != nil {
		t.Fatal(err)
	}
	return r
}

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// end waits for the agent's end.
func (r *rig) end() error {
	r.t.Helper()
	select {
	case err := <-r.served:
		return err
	case <-time.After(30 * time.Second):
		r.t.Fatal("the agent goes on")
		return nil
	}
}

func (r *rig) start(specs ...agent.Spec) []agent.Process {
	r.t.Helper()
	procs, err := r.remote.Start(specs)
	if err != nil || len(procs) != len(specs) {
		r.t.Fatal(len(procs), err)
	}
	return procs
}

// All that a process can do is done at the other end.
func TestProcess(t *testing.T) {
	r := newRig(t, Options{})
	if h := r.remote.Host(); h.Name != "h1" || h.Boot != "boot of h1" || len(h.Cores) != 2 {
		t.Errorf("%+v", h)
	}
	env := []string{"A=\xff"}
	procs := r.start(agent.Spec{Proc: 4, Incarnation: 2, Path: "p", Argv: []string{"p", "1"}, Env: env, Input: agent.AskedInput, Cores: []int{1}},
		agent.Spec{Proc: 5})
	p, there := procs[0], r.fake.process(key{4, 2})
	if there.spec.Env[0] != env[0] || there.spec.Argv[1] != "1" || p.PID() != 1004 || procs[1].PID() != 1005 || procs[1].Stdin() != nil {
		t.Errorf("%+v, pids %d %d", there.spec, p.PID(), procs[1].PID())
	}

	heard := make(chan control.Message, 10)
	go p.Listen(func(m control.Message) { heard <- m })
	p.Say(control.Message{Type: control.Explain, Text: "x"})
	if m := <-heard; m.Pid != 104 || m.Text != "x" {
		t.Errorf("%+v", m)
	}

	io.WriteString(p.Stdin(), "some input")
	b := make([]byte, 10)
	if _, err := io.ReadFull(p.Stdout(), b); err != nil || string(b) != "some input" {
		t.Errorf("%q, %v", b, err)
	}
	if n, err := p.Stdin().Taken(); n != 10 || err != nil {
		t.Error(n, err)
	}
	io.WriteString(p.PMI(), "cmd=init\n")
	if b := make([]byte, 9); true {
		if _, err := io.ReadFull(p.PMI(), b); err != nil || string(b) != "cmd=init\n" {
			t.Errorf("%q, %v", b, err)
		}
	}

	p.Signal(unix.SIGSTOP)
	until(t, "stopped", func() bool { return p.State().Stopped })
	p.Signal(unix.SIGCONT)
	until(t, "continued", func() bool { return !p.State().Stopped })
	there.mu.Lock()
	if there.traced = 77; len(there.signals) != 2 {
		t.Errorf("%v", there.signals)
	}
	there.mu.Unlock()
	if p.Traced(0) || procs[1].Traced(77) {
		t.Error("traced too early")
	}
	until(t, "traced", func() bool { return p.Traced(77) })

	before := time.Now()
	p.Signal(unix.SIGKILL)
	end, err := p.Wait()
	if err != nil || end.Status.Signal() != unix.SIGKILL || end.At.Before(before.Add(-100*time.Millisecond)) || end.At.After(time.Now()) {
		t.Errorf("%+v, %v", end, err)
	}
	if rest, err := io.ReadAll(p.Stdout()); err != nil || len(rest) > 0 || !p.State().Ended || !p.Stdout().Drained(nil) {
		t.Errorf("%q, %v", rest, err)
	}
	until(t, "the input is closed", func() bool { _, err := p.Stdin().Write([]byte("x")); return err != nil })
	p.Say(control.Message{Type: control.Explain}) // does nothing
}

// Drained waits until all was passed on that the process wrote, and can be given up.
func TestDrained(t *testing.T) {
	r := newRig(t, Options{})
	p := r.start(agent.Spec{Proc: 0})[0]
	there := r.fake.process(key{0, 0})
	there.stdout.Write(make([]byte, 60<<10))
	stop := make(chan struct{})
	time.AfterFunc(20*time.Millisecond, func() { close(stop) })
	if p.Stdout().Drained(stop) {
		t.Error("drained, and nothing was read")
	}
	drained := make(chan bool)
	go func() { drained <- p.Stdout().Drained(nil) }()
	n := 0
	for b := make([]byte, 1000); n < 60<<10; {
		select {
		case <-drained:
			t.Fatalf("drained after %d bytes", n)
		default:
		}
		k, err := p.Stdout().Read(b)
		if n += k; err != nil {
			t.Fatal(err)
		}
	}
	go p.Stdout().Read(make([]byte, 1))
	if !<-drained || !p.Stderr().Drained(nil) {
		t.Error("not drained")
	}
}

// The errors of Start come back as they were.
func TestStartFails(t *testing.T) {
	r := newRig(t, Options{})
	r.fake.fails = &agent.StartError{Proc: 3, Op: "execve", Err: syscall.ENOENT}
	_, err := r.remote.Start([]agent.Spec{{Proc: 2}, {Proc: 3}})
	var failed *agent.StartError
	if !errors.As(err, &failed) || *failed != *r.fake.fails.(*agent.StartError) {
		t.Errorf("%v", err)
	}
	r.fake.fails = errors.New("no more")
	if _, err := r.remote.Start([]agent.Spec{{Proc: 2}}); err == nil || err.Error() != "no more" {
		t.Errorf("%v", err)
	}
	r.fake.fails = nil
	r.start(agent.Spec{Proc: 2}, agent.Spec{Proc: 3})
}

// The launcher's end ends the agent, and that's no loss.
func TestOrderlyEnd(t *testing.T) {
	r := newRig(t, Options{})
	p := r.start(agent.Spec{Proc: 2})[0]
	go p.Listen(func(control.Message) {})
	if err := r.Listener.Close(); err != nil {
		t.Error(err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	<-r.fake.closed
	select {
	case <-r.remote.Lost():
		t.Error("lost")
	default:
	}
	if _, err := p.Wait(); err == nil {
		t.Error("an end was told")
	}
	if _, err := r.remote.Start([]agent.Spec{{}}); err == nil {
		t.Error("a closed agent starts")
	}
}

// An agent that is told to end says that it has killed its processes. The launcher knows it at
// once.
func TestGone(t *testing.T) {
	r := newRig(t, Options{Lease: time.Hour})
	p := r.start(agent.Spec{Proc: 2})[0]
	go p.Listen(func(control.Message) {})
	r.stop()
	if _, err := p.Wait(); err != agent.ErrHostLost {
		t.Error(err)
	}
	<-r.remote.Lost()
	if why := r.remote.Reason(); !strings.Contains(why, "signal") || !r.remote.Reaped() {
		t.Error(why, r.remote.Reaped())
	}
	if err := r.end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if b, err := io.ReadAll(p.Stdout()); err != nil || len(b) > 0 || !p.State().Ended {
		t.Error(b, err)
	}
	if _, err := r.remote.Start([]agent.Spec{{}}); err != agent.ErrHostLost {
		t.Error(err)
	}
}

// An agent that can't reach its launcher kills its processes when its lease is over, and only
// afterwards the launcher holds them for dead. A broken connection alone is no death.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{Lease: 3 * time.Second}) // whose margin bears 0.6 s without a core
	p := r.start(agent.Spec{Proc: 2})[0]
	go p.Listen(func(control.Message) {})
	r.fake.process(key{2, 0}).stdout.Write([]byte("last words"))
	if _, err := io.ReadFull(p.Stdout(), make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	r.proxy.cut(true)
	until(t, "it comes back", func() bool { return r.proxy.connections() > 1 })
	r.proxy.block()
	cut := time.Now()
	if _, err := p.Wait(); err != agent.ErrHostLost {
		t.Error(err)
	}
	lost := time.Now()
	<-r.remote.Lost()
	if err := r.end(); !errors.Is(err, ErrLeaseOver) {
		t.Error(err)
	}
	if <-r.fake.closed; !r.fake.at.Before(lost) || r.fake.at.Before(cut) {
		t.Errorf("killed %v after the launcher held them for dead", r.fake.at.Sub(lost))
	}
	if rest, err := io.ReadAll(p.Stdout()); err != nil || string(rest) != " words" {
		t.Errorf("%q, %v", rest, err)
	}
	if why := r.remote.Reason(); !strings.Contains(why, "lease") || r.remote.Reaped() {
		t.Error(why, r.remote.Reaped())
	}
	r.proxy.open()
}

// Whatever breaks the connections, each byte and each message comes once and in order.
func TestCuts(t *testing.T) {
	t.Parallel()
	r := newRig(t, Options{})
	const size, words = 3 << 20, 300
	var all sync.WaitGroup
	for n := range 3 {
		p := r.start(agent.Spec{Proc: 7, Incarnation: proto.Incarnation(n), Input: agent.SomeInput})[0]
		text := make([]byte, size)
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		text[size/4-1] = '\n' // PMI goes by lines
		all.Go(func() { p.Stdin().Write(text); p.Stdin().Close() })
		all.Go(func() {
			got := make([]byte, size)
			if _, err := io.ReadFull(p.Stdout(), got); err != nil || !bytes.Equal(got, text) {
				t.Errorf("stdout: %v, same: %v", err, bytes.Equal(got, text))
			}
		})
		all.Go(func() { p.PMI().Write(text[:size/4]) })
		all.Go(func() {
			got := make([]byte, size/4)
			if _, err := io.ReadFull(p.PMI(), got); err != nil || !bytes.Equal(got, text[:size/4]) {
				t.Errorf("PMI: %v", err)
			}
		})
		next, done := 0, make(chan struct{})
		go p.Listen(func(m control.Message) {
			if m.Code != next {
				t.Errorf("message %d comes in place of %d", m.Code, next)
			}
			if next++; next == words {
				close(done)
			}
		})
		all.Go(func() {
			for i := range words {
				p.Say(control.Message{Type: control.Explain, Code: i})
				if i%10 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			<-done
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	rng, cuts := rand.New(rand.NewPCG(1, 1)), 0
	for cutting := true; cutting; cuts++ {
		switch rng.IntN(3) {
		case 0:
			r.proxy.block()
			time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
			r.proxy.open()
		default:
			r.proxy.cut(rng.IntN(2) == 0)
		}
		select {
		case <-done:
			cutting = false
		case <-time.After(time.Duration(50+rng.IntN(200)) * time.Millisecond):
		case <-r.remote.Lost():
			t.Fatal("lost: ", r.remote.Reason())
		}
		if cuts > 8 {
			<-done
			break
		}
	}
	if r.proxy.connections() < 2 {
		t.Error("nothing was cut")
	}
}
