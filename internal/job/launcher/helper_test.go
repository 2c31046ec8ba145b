package launcher

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const roleVariable = "LAUNCH_TEST_ROLE"

// The test binary is several programs: the tests, a program of a job, a launcher for tests that
// kill or interrupt one, and a debugger.
func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); {
	case role == "program":
		os.Exit(program(os.Args[1], os.Args[2:]))
	case os.Getenv("PMI_RANK") != "":
		// Otherwise launchers would start launchers for ever.
		panic("a process of a job must have the role of a program")
	case role == "launcher":
		os.Exit(launcher())
	case role == "debugger":
		pid, _ := strconv.Atoi(os.Args[1])
		if err := debug(pid); err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	flag.Parse()
	flag.Set("test.parallel", "8") // they wait, mostly
	os.Exit(m.Run())
}

// outcome is what a job gave.
type outcome struct {
	report         *Report
	stdout, stderr string
}

// run runs a job of one of the programs. Fields of c take precedence over defaults.
func run(t *testing.T, c Config, args ...string) outcome {
	t.Helper()
	o, err := tryRun(t, c, args...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func tryRun(t *testing.T, c Config, args ...string) (outcome, error) {
	t.Helper()
	var stdout, stderr lockedBuffer
	c = complete(c, args)
	c.Stdout, c.Stderr = &stdout, &stderr
	type result struct {
		r   *Report
		err error
	}
	done := make(chan result, 1)
	go func() {
		r, err := Run(c)
		done <- result{r, err}
	}()
	select {
	case res := <-done:
		return outcome{res.r, stdout.String(), stderr.String()}, res.err
	case <-time.After(30 * time.Second):
		t.Fatalf("the job hangs; stdout %q, stderr %q", stdout.String(), stderr.String())
		panic("unreachable")
	}
}

func complete(c Config, args []string) Config {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c.Ranks, c.Replicas = max(c.Ranks, 1), max(c.Replicas, 1)
	if c.Program == "" {
		c.Program, c.Args = self, args
		// Otherwise every process ends a second late under the race detector.
		c.Env = append(os.Environ(), roleVariable+"=program", "GORACE=atexit_sleep_ms=0")
	}
	if c.Stdin == nil {
		c.Stdin = strings.NewReader("")
	}
	return c
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// launcher is a launcher in a process of its own. The environment has its job.
func launcher() int {
	var c Config
	if err := json.Unmarshal([]byte(os.Getenv("LAUNCH_TEST_JOB")), &c); err != nil {
		panic(err)
	}
	c = complete(c, os.Args[1:])
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	report, err := Run(c)
	if e := (*StartError)(nil); errors.As(err, &e) {
		fmt.Fprintln(os.Stderr, err)
		return e.Code
	}
	return report.ExitCode
}

// startLauncher starts a launcher and waits until its processes have printed so many lines. It
// returns the lines.
func startLauncher(t *testing.T, c Config, lines int, args ...string) (*exec.Cmd, []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	job, _ := json.Marshal(map[string]any{"Ranks": c.Ranks, "Replicas": c.Replicas, "Heal": c.Heal})
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), roleVariable+"=launcher", "LAUNCH_TEST_JOB="+string(job))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	got := make(chan string)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			got <- s.Text()
		}
	}()
	var all []string
	for range lines {
		select {
		case l := <-got:
			all = append(all, l)
		case <-time.After(20 * time.Second):
			t.Fatalf("the job doesn't start; it printed %q", all)
		}
	}
	return cmd, all
}

// gone waits until none of the processes exists.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left := 0
		for _, pid := range pids {
			if state(pid) != 0 && state(pid) != 'Z' {
				left = pid
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is left behind, in state %c", left, state(left))
		}
	}
}

// state is the state letter of a process, or 0 if there is none.
func state(pid int) byte {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return b[bytes.LastIndexByte(b, ')')+2]
}
