package test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/fault"
	"banyan/internal/pmi"
)

// said is what a process has written so far.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// Under another launcher, known by PMI only, spare processes take the places of both replicas of
// a rank of a C program, one after the other.
func TestHeatHealsBySpares(t *testing.T) {
	heat := build(t, "mpicc", "../../examples/heat/heat.c", "-O2", "-lm")
	args := []string{"100", "1e-7"}
	want := run(t, heat, args...).stdout
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	const ranks, spares = 3, 2
	const n = 2*ranks + spares
	server := pmi.NewServer(n, "test", func(int, int, string) {})
	var cmds [n]*exec.Cmd
	var stdout, stderr [n]said
	var ended sync.WaitGroup
	for i := range cmds {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := os.NewFile(uintptr(fds[0]), "pmi"), os.NewFile(uintptr(fds[1]), "pmi")
		cmd := exec.CommandContext(ctx, heat, args...)
		cmd.ExtraFiles = []*os.File{theirs}
		cmd.Stdout, cmd.Stderr = &stdout[i], &stderr[i]
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.Env = append(os.Environ(), "PMI_FD=3", fmt.Sprint("PMI_RANK=", i), fmt.Sprint("PMI_SIZE=", n),
			"BANYAN_REPLICAS=2", fmt.Sprint("BANYAN_SPARES=", spares))
		if i == 1 {
			cmd.Env = append(cmd.Env, fault.Variable+"=kill rank=1 replica=0 at=send:200")
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		cmds[i] = cmd
		go server.Serve(i, ours)
		ended.Go(func() { cmd.Wait(); server.Gone(i) })
	}
	over := make(chan struct{})
	go func() { ended.Wait(); close(over) }()
	warden := &stderr[2*ranks]
	for healed := false; !healed; {
		select {
		case <-over:
			healed = true
		case <-time.After(time.Millisecond):
			healed = strings.Contains(warden.String(), "is back")
		}
	}
	cmds[1+ranks].Process.Kill()
	<-over
	if ctx.Err() != nil {
		t.Fatalf("it hangs; the warden says %.2000s", warden)
	}
	if backs := strings.Count(warden.String(), "is back"); backs != 2 {
		t.Errorf("%d were replaced: %.2000s", backs, warden)
	}
	for i := range cmds {
		code, output := cmds[i].ProcessState.ExitCode(), ""
		if i%ranks == 0 && i < 2*ranks {
			output = want
		}
		if killed := i == 1 || i == 1+ranks; !killed && code != 0 || stdout[i].String() != output {
			t.Errorf("process %d: exit code %d, stdout %.300q, stderr %.1000q", i, code, &stdout[i], &stderr[i])
		}
	}
}
