package agent

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// Local is the agent of this host, in this process: the processes that it starts are its children.
// Its processes are those of a job if it stands in the launcher. In "banyan agent" it does the work
// of another host's launcher.
type Local struct {
	host   Host
	thread thread   // starts all processes
	null   *os.File // /dev/null

	mu     sync.Mutex
	closed bool
	live   map[*localProcess]struct{} // started and not reaped

	snapshots map[proto.Proc]*parts
	spans     uint64 // that were asked for
}

// NewLocal makes the agent of this host. Its processes may run where the caller may.
func NewLocal() (*Local, error) {
	host, err := thisHost()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &Local{host: host, null: null, thread: newThread(), live: make(map[*localProcess]struct{})}, nil
}

// thisHost describes the host.
func thisHost() (Host, error) {
	name, err := os.Hostname()
	if err != nil {
		return Host{}, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Host{}, err
	}
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return Host{}, os.NewSyscallError("sched_getaffinity", err)
	}
	host := Host{Name: name, Boot: strings.TrimSpace(string(boot))}
	for core := range len(allowed) * 64 {
		if allowed.IsSet(core) {
			host.Cores = append(host.Cores, core)
		}
	}
	return host, nil
}

// Host implements Agent.
func (l *Local) Host() Host {
	h := l.host
	h.Cores = slices.Clone(h.Cores)
	return h
}

// Lost implements Agent. A process that can ask has its host.
func (l *Local) Lost() <-chan struct{} { return nil }

// Start implements Agent.
func (l *Local) Start(specs []Spec) (procs []Process, err error) {
	err = l.thread.do(func() error {
		return restoringCores(specs, func(enter func(*Spec) error) error {
			for i := range specs {
				p, err := l.start(&specs[i], enter)
				if err != nil {
					return startError(specs[i].Proc, err)
				}
				procs = append(procs, p)
			}
			return nil
		})
	})
	if err != nil {
		for _, p := range procs {
			p.(*localProcess).discard()
		}
		return nil, err
	}
	return procs, nil
}

// Close implements Agent. It doesn't wait for the ends of the processes: Wait tells of them. Start
// fails from now on.
func (l *Local) Close() error {
	l.mu.Lock()
	l.closed = true
	left := slices.Collect(maps.Keys(l.live))
	for p, x := range l.snapshots {
		x.close()
		delete(l.snapshots, p)
	}
	l.mu.Unlock()
	for _, p := range left {
		p.Signal(syscall.SIGKILL)
	}
	err := l.thread.do(l.null.Close) // no Start is under way then
	l.thread.end()
	if errors.Is(err, syscall.ESHUTDOWN) {
		return nil // it was closed before
	}
	return err
}

// keep notes that a process lives. It returns false if the agent is closed.
func (l *Local) keep(p *localProcess) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.live[p] = struct{}{}
	}
	return !l.closed
}

// forget notes that a process was reaped.
func (l *Local) forget(p *localProcess) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.live, p)
}
