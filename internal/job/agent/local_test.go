package agent

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
)

func TestHost(t *testing.T) {
	h := newLocal(t).Host()
	if h.Name == "" || len(h.Boot) != 36 || len(h.Cores) == 0 || !slices.IsSorted(h.Cores) {
		t.Errorf("%+v", h)
	}
}

// A process hears what is said to it, and is heard, to its last word before its end.
func TestLifeline(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	procs, err := newLocal(t).Start([]Spec{{Path: self, Argv: []string{self}, Env: append(os.Environ(), roleVariable+"=speaker")}})
	if err != nil {
		t.Fatal(err)
	}
	p := procs[0]
	var heard []string
	go p.Listen(func(m control.Message) {
		heard = append(heard, m.Text)
		if m.Text == "three" {
			p.Say(control.Message{Type: control.Shutdown, Text: "enough"})
		}
	})
	if got := line(t, p.Stdout()); got != "heard enough" {
		t.Errorf("it prints %q", got)
	}
	end := waited(t, p)
	if !slices.Equal(heard, []string{"one", "two", "three"}) || end.Status.ExitStatus() != 7 || time.Since(end.At) > time.Minute {
		t.Errorf("heard %q, then %+v", heard, end)
	}
	p.Signal(syscall.SIGTERM) // another process may have the number: nothing happens
	p.Say(control.Message{Type: control.Shutdown})
	if s := p.State(); !s.Ended || s.Stopped {
		t.Errorf("after its end: %+v", s)
	}
}

// All are started, in their directories, on their cores and in groups of their own, or none is.
func TestStart(t *testing.T) {
	l := newLocal(t)
	dir := filepath.Join(t.TempDir(), "a", "b")
	here := script("pwd; grep Cpus_allowed_list /proc/self/status; echo $PMI_FD $BANYAN_OUTPUT_FDS $(ps -o pgid= -p $$) $$")
	here.Dir, here.MakeDir, here.Cores = dir, true, []int{l.Host().Cores[0]}
	free := script("grep Cpus_allowed_list /proc/self/status")
	procs, err := l.Start([]Spec{here, free})
	if err != nil {
		t.Fatal(err)
	}
	var said [2]string
	for i, p := range procs {
		go p.Listen(func(control.Message) {})
		b, err := io.ReadAll(p.Stdout())
		if err != nil {
			t.Error(err)
		}
		said[i] = string(b)
		waited(t, p)
	}
	_, cores, _ := strings.Cut(said[1], "\t")
	pid := strconv.Itoa(procs[0].PID())
	if want := fmt.Sprintf("%s\nCpus_allowed_list:\t%d\n3 %s %s\n", dir, l.Host().Cores[0], pid, pid); said[0] != want {
		t.Errorf("%q, want %q", said[0], want)
	}
	if len(l.Host().Cores) > 1 && cores == fmt.Sprintf("%d\n", l.Host().Cores[0]) {
		t.Errorf("the second runs on the first one's core: %q", said[1])
	}

	for name, tc := range map[string]struct {
		bad Spec
		op  string
		err syscall.Errno
	}{
		"no program":     {Spec{Path: "/nonexistent", Argv: []string{"x"}}, "execve", syscall.ENOENT},
		"no right":       {Spec{Path: "/dev/null", Argv: []string{"x"}}, "execve", syscall.EACCES},
		"no directory":   {Spec{Path: "/bin/sh", Argv: []string{"x"}, Dir: "/nonexistent"}, "execve", syscall.ENOENT},
		"not to be made": {Spec{Path: "/bin/sh", Argv: []string{"x"}, Dir: "/dev/null/x", MakeDir: true}, "mkdir", syscall.ENOTDIR},
		"no core":        {Spec{Path: "/bin/sh", Argv: []string{"x"}, Cores: []int{1023}}, "sched_setaffinity", syscall.EINVAL},
	} {
		before := openFiles(t)
		tc.bad.Proc = 5
		procs, err := l.Start([]Spec{script("sleep 100"), tc.bad, script("sleep 100")})
		var e *StartError
		if procs != nil || !errors.As(err, &e) || e.Proc != 5 || e.Op != tc.op || e.Err != tc.err {
			t.Errorf("%s: %v, %#v", name, procs, err)
		}
		if len(l.live) != 0 {
			t.Errorf("%s: a process is left", name)
		}
		if more := openedSince(t, before); len(more) > 0 {
			t.Errorf("%s: descriptors are left: %v", name, more)
		}
	}
}

// openFiles are the descriptors that this process has, and what they are of.
func openFiles(t *testing.T) map[string]string {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]string{}
	for _, d := range all {
		if of, err := os.Readlink("/proc/self/fd/" + d.Name()); err == nil { // not the directory's own
			open[d.Name()] = of
		}
	}
	return open
}

// openedSince are those that weren't there before. There may be fewer for reasons of its own:
// the garbage collector closes what other tests have left.
func openedSince(t *testing.T, before map[string]string) map[string]string {
	t.Helper()
	now := openFiles(t)
	maps.DeleteFunc(now, func(number, of string) bool { return before[number] == of })
	return now
}

// What a process leaves in its group is killed before the process is reaped, and its state is
// known.
func TestGroupIsKilled(t *testing.T) {
	l := newLocal(t)
	p := started(t, l, script("sleep 100 & echo $!; exec sleep 100"))
	child, err := strconv.Atoi(line(t, p.Stdout()))
	if err != nil {
		t.Fatal(err)
	}
	if s := p.State(); s.Ended || s.Stopped {
		t.Errorf("at first %+v", s)
	}
	p.Signal(syscall.SIGSTOP)
	for deadline := time.Now().Add(20 * time.Second); !p.State().Stopped; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it doesn't stop")
		}
	}
	if p.Traced(0) {
		t.Error("a debugger is seen")
	}
	unix.Kill(p.PID(), syscall.SIGKILL) // the process alone
	for deadline := time.Now().Add(20 * time.Second); !p.State().Ended; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("its end isn't seen")
		}
	}
	if end := waited(t, p); end.Status.Signal() != syscall.SIGKILL {
		t.Errorf("%+v", end)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		status := procStatus(child)
		if state, _ := statusField(status, "State"); status == nil || strings.HasPrefix(state, "Z") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("its child lives")
		}
	}
}

// Close kills all, and nothing can be started afterwards.
func TestClose(t *testing.T) {
	before := openFiles(t)
	l := newLocal(t)
	p, q := started(t, l, script("sleep 100")), started(t, l, script("sleep 100"))
	if errors.Join(l.Close(), l.Close()) != nil {
		t.Error("not closed")
	}
	for _, p := range []Process{p, q} {
		if end := waited(t, p); end.Status.Signal() != syscall.SIGKILL {
			t.Errorf("%+v", end)
		}
		p.Stdout().Close()
		p.Stderr().Close()
		p.PMI().Close()
	}
	if _, err := l.Start([]Spec{script("true")}); !errors.Is(err, syscall.ESHUTDOWN) {
		t.Errorf("started: %v", err)
	}
	if more := openedSince(t, before); len(more) > 0 {
		t.Errorf("descriptors are left: %v", more)
	}
}

// A replacement has its outputs on descriptors of their own.
func TestReplacementWritesNothingAtFirst(t *testing.T) {
	s := script("echo hidden; echo shown >&5; echo also >&6")
	s.Replacement = true
	p := started(t, newLocal(t), s)
	out, _ := io.ReadAll(p.Stdout())
	errs, _ := io.ReadAll(p.Stderr())
	if string(out) != "shown\n" || string(errs) != "also\n" {
		t.Errorf("%q, %q", out, errs)
	}
	waited(t, p)
}
