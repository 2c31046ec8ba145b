package probe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/doctor"
	"banyan/internal/job/hosts"
)

// What is found of the machine that runs this test is what the test itself shows.
func TestMachine(t *testing.T) {
	f := Machine()
	if f.Name == "" || f.Build == "" || f.Boot == "" || f.Kernel == "" || f.Affinity < 1 || f.Cores < f.Affinity || f.Limits.Files == 0 || f.MemoryFree == 0 {
		t.Errorf("%+v", f)
	}
	if f.Loopback != "" || f.Memfd != "" {
		t.Errorf("loopback %q, memfd %q", f.Loopback, f.Memfd)
	}
	if len(doctor.Machine(&f)) < 12 {
		t.Errorf("%+v", doctor.Machine(&f))
	}
}

func TestCountList(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3": 4, "0-3,7": 5, "0,2,4-5": 4} {
		if got := countList(list); got != want {
			t.Errorf("%s: %d, want %d", list, got, want)
		}
	}
}

// A host that answers tells its facts, behind what its shell says, and a clock that is ahead.
func TestConverse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	questions, to := io.Pipe()
	from, answers := io.Pipe()
	go func() {
		fmt.Fprintln(answers, "Welcome to h1!")
		answers.CloseWithError(Answer(questions, answers, []string{"127.0.0.1:1", l.Addr().String()}))
	}()
	var h doctor.Host
	if err := converse(to, bufio.NewReader(from), &h); err != nil {
		t.Fatal(err)
	}
	to.Close()
	if h.Facts.Boot != Machine().Boot || h.Back != "" || h.Ahead < -h.Within-0.001 || h.Ahead > h.Within+0.001 {
		t.Errorf("%+v", h)
	}
	if err := connect([]string{"127.0.0.1:1"}); err == nil {
		t.Error("nobody listens there")
	}
	shifted := bufio.NewReader(strings.NewReader(greeting + "{}\n" + strings.Repeat(fmt.Sprintln(time.Now().Add(time.Hour).UnixNano()), samples)))
	if err := converse(io.Discard, shifted, &h); err != nil || h.Ahead < 3599 || h.Ahead > 3601 {
		t.Errorf("a clock that is an hour ahead: %v %v", h.Ahead, err)
	}
	for _, text := range []string{"", "Welcome\n", greeting + "{\n", greeting + "{}\n", greeting + "{}\n1"} {
		if err := converse(io.Discard, bufio.NewReader(strings.NewReader(text)), &h); err == nil {
			t.Errorf("%q is an answer", text)
		}
	}
}

// A command that fails is told by what it has said.
func TestAsk(t *testing.T) {
	var h doctor.Host
	if err := ask(t.Context(), []string{"sh", "-c", "echo Permission denied >&2; exit 255"}, &h); err == nil || err.Error() != "Permission denied" {
		t.Error(err)
	}
	if err := ask(t.Context(), []string{"sh", "-c", "exit 3"}, &h); err == nil || err.Error() != "exit status 3" {
		t.Error(err)
	}
	if err := ask(t.Context(), []string{"/no/such/ssh"}, &h); err == nil {
		t.Error("there is no such command")
	}
}

// An allocation is described by its variables and by what Slurm's commands say.
func TestBatch(t *testing.T) {
	s := hosts.System{Getenv: func(name string) string {
		return map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "3", "SLURM_NTASKS": "6"}[name]
	}, Output: func(name string, args ...string) (string, error) {
		if name == "srun" {
			return "slurm-wlm 22.05.8\n", nil
		}
		return "Configuration data\nProctrackType           = proctrack/cgroup\n", nil
	}}
	if b := Batch(s); b == nil || *b != (doctor.Batch{Job: "7", Version: "slurm-wlm 22.05.8", Proctrack: "proctrack/cgroup", Nodes: 3, Tasks: true}) {
		t.Errorf("%+v", b)
	}
	s.Getenv = func(string) string { return "" }
	if b := Batch(s); b != nil {
		t.Errorf("no allocation: %+v", b)
	}
}
