package agent

import (
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/control"
)

// Processes that run don't cost a thread each. All of their ends are heard.
func TestReapingTakesNoThreads(t *testing.T) {
	const n = 64
	l := newLocal(t)
	specs := make([]Spec, n)
	for i := range specs {
		specs[i] = Spec{Path: "/bin/sleep", Argv: []string{"sleep", "100"}, Env: []string{}}
	}
	before := threads(t)
	procs, err := l.Start(specs)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, p := range procs {
		if p.(*localProcess).pidfd == nil {
			t.Skip("this kernel has no pidfds: a thread waits for each process")
		}
		go p.Listen(func(control.Message) {})
		all.Go(func() {
			if end, err := p.Wait(); err != nil || end.Status.Signal() != syscall.SIGKILL {
				t.Errorf("%+v, %v", end, err)
			}
			p.Stdout().Close()
			p.Stderr().Close()
			p.PMI().Close()
		})
	}
	time.Sleep(20 * time.Millisecond) // all wait by now; if not, there are fewer threads
	if now := threads(t); now > before+n/4 {
		t.Errorf("%d threads for %d processes, %d before", now, n, before)
	}
	for _, p := range procs {
		p.Signal(syscall.SIGKILL)
	}
	all.Wait()
}

// threads is how many threads this process has.
func threads(t *testing.T) int {
	t.Helper()
	text, _ := statusField(procStatus(syscall.Getpid()), "Threads")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Without a pidfd, and with one that can't be polled, the end of a process is heard all the same.
func TestReapingWithoutPidfd(t *testing.T) {
	l := newLocal(t)
	for name, spoil := range map[string]func(p *localProcess){
		"none":         func(p *localProcess) { p.pidfd.Close(); p.pidfd = nil },
		"not pollable": func(p *localProcess) { p.pidfd.Close(); p.pidfd = pollable(openNull(t)) },
	} {
		p := started(t, l, script("read line; exit 3")).(*localProcess)
		if p.pidfd == nil {
			t.Skip("this kernel has no pidfds")
		}
		spoil(p)
		if end := waited(t, p); end.Status.ExitStatus() != 3 {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

func openNull(t *testing.T) int {
	fd, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}
