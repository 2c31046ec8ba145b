package launcher

import (
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
)

// pretended is an agent of this host that pretends to be another host's, and that can be cut off
// and lost, as one that is reached over a network.
type pretended struct {
	*agent.Local
	name  string
	cores []int // nil: those of this host

	// These are called if they aren't nil.
	starting func(agent.Spec)                  // before a process is started
	started  func()                            // before the launcher is told of that
	heard    func(agent.Spec, control.Message) // before a message is passed on
	passed   func(agent.Spec, control.Message) // when it was
	signaled func(agent.Spec, syscall.Signal)  // before a signal is

	lost chan struct{}
	mu   sync.Mutex
	cut  bool // nothing is passed on
	all  []*pretendedProcess
}

// pretend makes agents with these names.
func pretend(t *testing.T, names ...string) (hosts []*pretended, agents []agent.Agent) {
	t.Helper()
	for _, name := range names {
		local, err := agent.NewLocal()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { local.Close() })
		h := &pretended{Local: local, name: name, lost: make(chan struct{})}
		hosts, agents = append(hosts, h), append(agents, h)
	}
	return hosts, agents
}

func (h *pretended) Host() agent.Host {
	host := h.Local.Host()
	host.Name = h.name
	if h.cores != nil {
		host.Cores = h.cores
	}
	return host
}

func (h *pretended) Lost() <-chan struct{} { return h.lost }

// setCut cuts the host off, or connects it again.
func (h *pretended) setCut(cut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut = cut
}

func (h *pretended) isCut() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cut
}

// lose has the host die, and its lease end, once.
func (h *pretended) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut = true
	for _, p := range h.all {
		p.Process.Signal(unix.SIGKILL)
	}
	select {
	case <-h.lost:
	default:
		close(h.lost)
	}
}

func (h *pretended) Start(specs []agent.Spec) ([]agent.Process, error) {
	for _, s := range specs {
		if h.starting != nil {
			h.starting(s)
		}
	}
	if h.isCut() {
		<-h.lost
		return nil, agent.ErrHostLost
	}
	procs, err := h.Local.Start(specs)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	for i := range procs {
		p := &pretendedProcess{procs[i], specs[i], h}
		h.all = append(h.all, p)
		procs[i] = p
	}
	h.mu.Unlock()
	if h.started != nil {
		h.started()
	}
	return procs, nil
}

// pretendedProcess is a process of a pretended host.
type pretendedProcess struct {
	agent.Process
	spec agent.Spec
	host *pretended
}

func (p *pretendedProcess) Say(m control.Message) {
	if !p.host.isCut() {
		p.Process.Say(m)
	}
}

func (p *pretendedProcess) Listen(heard func(control.Message)) {
	p.Process.Listen(func(m control.Message) {
		if p.host.heard != nil {
			p.host.heard(p.spec, m)
		}
		if !p.host.isCut() {
			heard(m)
		}
		if p.host.passed != nil {
			p.host.passed(p.spec, m)
		}
	})
}

func (p *pretendedProcess) Signal(s syscall.Signal) {
	if p.host.signaled != nil {
		p.host.signaled(p.spec, s)
	}
	if !p.host.isCut() {
		p.Process.Signal(s)
	}
}

func (p *pretendedProcess) State() agent.State {
	if p.host.isCut() {
		return agent.State{}
	}
	return p.Process.State()
}

func (p *pretendedProcess) Wait() (agent.End, error) {
	end, err := p.Process.Wait()
	if p.host.isCut() {
		<-p.host.lost
		return agent.End{}, agent.ErrHostLost
	}
	return end, err
}

// layers are the places of a job whose replica layers are on hosts of their own.
func layers(ranks, replicas int) (places []int) {
	for k := range replicas {
		places = append(places, slices.Repeat([]int{k}, ranks)...)
	}
	return places
}

// times calls f when it is called for the n-th time.
func times(n int, f func()) func() {
	var mu sync.Mutex
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if n--; n == 0 {
			f()
		}
	}
}
