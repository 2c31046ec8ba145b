package join

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport/mesh"
)

// child starts a program that ends with the test.
func child(t *testing.T, command string) *exec.Cmd {
	t.Helper()
	return childTo(t, nil, command)
}

// childTo gives it a stdout, nil for none.
func childTo(t *testing.T, stdout *os.File, command string) *exec.Cmd {
	t.Helper()
	c := exec.Command("sh", "-c", command)
	if stdout != nil {
		c.Stdout = stdout
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Kill(-c.Process.Pid, unix.SIGKILL)
		c.Wait()
	})
	return c
}

// seen is a process as a neighbour.
func seen(t *testing.T, pid int) *neighbour {
	t.Helper()
	fields, err := stat(pid, "stat")
	if err != nil {
		t.Fatal(err)
	}
	return &neighbour{pid: pid, start: string(fields[startField])}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

const endless = "while :; do :; done"

// computing starts an endless program, and returns once it is in its loop. Until then it may wait
// for a page of its own.
func computing(t *testing.T) *exec.Cmd {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := childTo(t, w, "echo; "+endless)
	w.Close()
	r.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return c
}

// A process that computes is starved at every look, even if it gets little of a core.
func TestStarvedProcess(t *testing.T) {
	hungry := computing(t)
	if err := unix.Setpriority(unix.PRIO_PROCESS, hungry.Process.Pid, 19); err != nil {
		t.Fatal(err)
	}
	rivals := []*exec.Cmd{hungry, child(t, endless), child(t, endless)}
	var one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	for cpu, found := 0, false; cpu < 1024; cpu++ {
		if found {
			one.Clear(cpu)
		}
		found = found || one.IsSet(cpu)
	}
	for _, r := range rivals {
		if err := unix.SchedSetaffinity(r.Process.Pid, &one); err != nil {
			t.Fatal(err)
		}
	}
	q := seen(t, hungry.Process.Pid)
	for range 50 {
		if !q.wants() {
			t.Fatal("a process that has to wait for its core is taken for one that doesn't want it")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A process that only sleeps isn't starved. One that sleeps and runs by turns is.
func TestSleepingProcess(t *testing.T) {
	q := seen(t, child(t, "exec sleep 100").Process.Pid)
	eventually(t, "it sleeps", func() bool { return !q.wants() })
	if q.wants() {
		t.Error("a process that sleeps is taken for starved")
	}
	q = seen(t, child(t, "while :; do sleep 0.001; done").Process.Pid)
	for range 20 {
		q.wants()
		eventually(t, "it has run since the last look", q.wants)
	}
}

// A process that is stopped or has ended isn't starved.
func TestStoppedProcess(t *testing.T) {
	c := computing(t)
	q := seen(t, c.Process.Pid)
	if !q.wants() {
		t.Error("a process that computes isn't believed to live")
	}
	other := *q
	other.start = "1"
	if other.wants() {
		t.Error("a process stands for another that had its number")
	}
	unix.Kill(c.Process.Pid, unix.SIGSTOP)
	eventually(t, "it stops", func() bool { return !q.wants() })
	unix.Kill(c.Process.Pid, unix.SIGCONT)
	eventually(t, "it goes on", q.wants)
	unix.Kill(c.Process.Pid, unix.SIGKILL)
	eventually(t, "it is dead", func() bool { return !q.wants() })
}

// The process id of each process is looked up once, by its card. Until it is known the process
// counts as starved.
func TestNeighboursAreFound(t *testing.T) {
	here := mesh.Card{Host: "here/1", Pid: os.Getpid()}
	own, err := stat(here.Pid, "stat")
	if err != nil {
		t.Fatal(err)
	}
	here.Start, _ = strconv.ParseUint(string(own[startField]), 10, 64)
	asked := make(chan proto.Proc)
	hosts := processHosts{self: 0, procs: 5, hosts: []int32{0, 0, 0, 0, 1}}
	n := newNeighbours(here, hosts, func(p proto.Proc) (mesh.Card, error) {
		asked <- p
		switch p {
		case 1:
			return here, nil
		case 2:
			return mesh.Card{Host: "there/1", Pid: here.Pid, Start: here.Start}, nil
		}
		return mesh.Card{}, errors.New("no card")
	})
	if n.starved(4) {
		t.Error("a process of another host is believed")
	}
	for p := range proto.Proc(3) {
		p++
		for range 3 {
			if !n.starved(p) {
				t.Errorf("%v isn't believed while it is looked up", p)
			}
		}
		if q := <-asked; q != p {
			t.Errorf("%v is looked up, not %v", q, p)
		}
	}
	eventually(t, "this process runs", func() bool { return n.starved(1) })
	for _, p := range []proto.Proc{2, 3} {
		eventually(t, "the others aren't to be seen", func() bool { return !n.starved(p) })
	}
}
