package remote

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
)

// fake is an agent whose processes are goroutines. Each copies its stdin to its stdout and what it
// is told on its PMI connection back, and answers each message on its lifeline. It ends by
// SIGKILL, or when its stdin has ended and it was told to leave.
type fake struct {
	host   agent.Host
	fails  error // of Start
	mu     sync.Mutex
	procs  map[key]*fakeProcess
	closed chan struct{}
	at     time.Time // when it was closed
}

func newFake(name string) *fake {
	return &fake{host: agent.Host{Name: name, Boot: "boot of " + name, Cores: []int{0, 1}}, procs: make(map[key]*fakeProcess), closed: make(chan struct{})}
}

func (f *fake) Host() agent.Host      { return f.host }
func (f *fake) Lost() <-chan struct{} { return nil }

func (f *fake) Start(specs []agent.Spec) (procs []agent.Process, err error) {
	if f.fails != nil {
		return nil, f.fails
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range specs {
		p := newFakeProcess(s)
		f.procs[key{s.Proc, s.Incarnation}] = p
		procs = append(procs, p)
	}
	return procs, nil
}

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.closed:
		return nil
	default:
	}
	f.at = time.Now()
	close(f.closed)
	for _, p := range f.procs {
		p.kill(9)
	}
	return nil
}

func (f *fake) process(k key) *fakeProcess {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.procs[k]
}

type fakeProcess struct {
	spec           agent.Spec
	stdin          *fakeInput
	stdout, stderr *fakeOutput
	pmi, pmiEnd    net.Conn
	heard          chan control.Message // by the process
	said           chan control.Message
	died           chan struct{}

	mu      sync.Mutex
	state   agent.State
	status  unix.WaitStatus
	signals []syscall.Signal
	traced  int // the speaker that is traced
}

func newFakeProcess(s agent.Spec) *fakeProcess {
	p := &fakeProcess{spec: s, stdout: newFakeOutput(), stderr: newFakeOutput(), heard: make(chan control.Message, 1000), said: make(chan control.Message, 1000), died: make(chan struct{})}
	p.pmi, p.pmiEnd = net.Pipe()
	if s.Input != agent.NoInput {
		p.stdin = newFakeInput()
		go io.Copy(p.stdout, p.stdin.r)
	}
	go io.Copy(p.pmiEnd, p.pmiEnd)
	go func() {
		for {
			select {
			case m := <-p.heard:
				if m.Type == control.Shutdown {
					p.kill(0)
					return
				}
				m.Pid = 100 + int(s.Proc)
				select {
				case p.said <- m:
				case <-p.died:
					return
				}
			case <-p.died:
				return
			}
		}
	}()
	return p
}

// kill ends the process by a signal, or with exit code 0.
func (p *fakeProcess) kill(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.state.Ended {
		p.state, p.status = agent.State{Ended: true}, unix.WaitStatus(s)
		close(p.died)
		p.stdout.end()
		p.stderr.end()
		p.pmiEnd.Close()
		if p.stdin != nil {
			p.stdin.r.Close()
		}
	}
}

func (p *fakeProcess) PID() int { return 1000 + int(p.spec.Proc) }
func (p *fakeProcess) Stdin() agent.Input {
	if p.stdin == nil {
		return nil
	}
	return p.stdin
}
func (p *fakeProcess) Stdout() agent.Output    { return p.stdout }
func (p *fakeProcess) Stderr() agent.Output    { return p.stderr }
func (p *fakeProcess) PMI() io.ReadWriteCloser { return p.pmi }
func (p *fakeProcess) Say(m control.Message)   { p.heard <- m }

func (p *fakeProcess) Listen(heard func(control.Message)) {
	for {
		select {
		case m := <-p.said:
			heard(m)
		case <-p.died:
			for len(p.said) > 0 {
				heard(<-p.said)
			}
			return
		}
	}
}

func (p *fakeProcess) Signal(s syscall.Signal) {
	if s == unix.SIGKILL {
		p.kill(s)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signals = append(p.signals, s)
	p.state.Stopped = s == unix.SIGSTOP
}

func (p *fakeProcess) State() agent.State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *fakeProcess) Traced(speaker int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return speaker != 0 && p.traced == speaker
}

func (p *fakeProcess) Wait() (agent.End, error) {
	<-p.died
	p.mu.Lock()
	defer p.mu.Unlock()
	return agent.End{Status: p.status, At: time.Now()}, nil
}

// fakeInput counts what is read of it.
type fakeInput struct {
	*io.PipeWriter
	r *countingReader
}

type countingReader struct {
	*io.PipeReader
	mu sync.Mutex
	n  int64
}

func newFakeInput() *fakeInput {
	r, w := io.Pipe()
	return &fakeInput{w, &countingReader{PipeReader: r}}
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.PipeReader.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += int64(n)
	return n, err
}

func (i *fakeInput) Taken() (int64, error) {
	i.r.mu.Lock()
	defer i.r.mu.Unlock()
	return i.r.n, nil
}

// fakeOutput is a pipe of 64 KiB.
type fakeOutput struct {
	mu      sync.Mutex
	changed sync.Cond
	buf     []byte
	ended   bool
	closed  bool
	taken   bool
}

func newFakeOutput() *fakeOutput {
	o := &fakeOutput{}
	o.changed.L = &o.mu
	return o
}

func (o *fakeOutput) Write(b []byte) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(b) > 0 {
		if o.closed || o.ended {
			return n, errors.New("broken pipe")
		}
		k := min(len(b), 64<<10-len(o.buf))
		o.buf = append(o.buf, b[:k]...)
		n, b = n+k, b[k:]
		o.changed.Broadcast()
		if len(b) > 0 {
			o.changed.Wait()
		}
	}
	return n, nil
}

func (o *fakeOutput) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.changed.Broadcast()
}

func (o *fakeOutput) Read(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taken = false
	o.changed.Broadcast()
	for len(o.buf) == 0 && !o.ended && !o.closed {
		o.changed.Wait()
	}
	n := copy(b, o.buf)
	o.buf = o.buf[n:]
	if n == 0 {
		return 0, io.EOF
	}
	o.taken = true
	return n, nil
}

func (o *fakeOutput) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
	return nil
}

func (o *fakeOutput) Drained(stop <-chan struct{}) bool {
	for {
		o.mu.Lock()
		drained := !o.taken && len(o.buf) == 0
		o.mu.Unlock()
		if drained {
			return true
		}
		select {
		case <-stop:
			return false
		case <-time.After(time.Millisecond):
		}
	}
}
