package launcher

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/proto"
)

const roleVariable = "LAUNCH_TEST_ROLE"

// The test binary is three programs: the tests, a program of a job, and a
// launcher for tests that kill or interrupt one.
func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); {
	case role == "program":
		os.Exit(program(os.Args[1], os.Args[2:]))
	case os.Getenv("PMI_RANK") != "":
		// Launchers that start launchers would never end.
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

// mpi is what a program of a job knows of its job. It speaks PMI and control
// directly, as the mpi package would.
type mpi struct {
	pmi     *pmi.Client
	control *control.Conn
	proc    proto.Proc
	ranks   int
}

func (m *mpi) rank() int    { return int(m.proc) % m.ranks }
func (m *mpi) replica() int { return int(m.proc) / m.ranks }
func (m *mpi) tell(t control.Type) {
	if err := m.control.Send(control.Message{Type: t}); err != nil {
		panic(err)
	}
}

// leave finalises.
func (m *mpi) leave() {
	m.tell(control.Finalized)
	m.control.Close()
	m.pmi.Finalize()
}

// join does what initialisation does.
func join() *mpi {
	m := connect()
	if err := m.pmi.Barrier(); err != nil {
		panic(err)
	}
	m.tell(control.Ready)
	return m
}

func connect() *mpi {
	p, err := pmi.FromEnv()
	if err != nil {
		panic(err)
	}
	c, err := control.FromEnv()
	if err != nil {
		panic(err)
	}
	replicas, _ := strconv.Atoi(os.Getenv(env.Replicas))
	return &mpi{p, c, proto.Proc(p.Rank()), p.Size() / replicas}
}

// orphaned exits when the launcher has gone, as every process must.
func (m *mpi) orphaned() {
	for {
		if _, err := m.control.Receive(); err != nil {
			os.Exit(1)
		}
	}
}

// program runs one of the programs of the tests.
func program(name string, args []string) int {
	switch name {
	case "live": // real ranks, see silence_test.go
		d, _ := time.ParseDuration(args[1])
		live(args[0], d)
	case "hang": // see explain_test.go
		hang()
	case "patient": // see heal_test.go
		return healProgram(args[0], args[1])
	case "talk", "calculate": // see soak_test.go
		d, _ := time.ParseDuration(args[0])
		map[string]func(time.Duration){"talk": talk, "calculate": calculate}[name](d)
	case "print": // text as given
		os.Stdout.WriteString(args[0])
	case "exit": // with a code, having written to both outputs
		code, _ := strconv.Atoi(args[0])
		fmt.Println("out")
		fmt.Fprintln(os.Stderr, "err")
		return code
	case "env":
		fmt.Println(os.Getenv(args[0]))
	case "text": // text for rank 0 from pieces, each replica at its pace; the first args[0] die in the middle
		m := join()
		text := []byte(testText(m.rank()))
		dying, _ := strconv.Atoi(args[0])
		seed, _ := strconv.Atoi(args[1])
		cut := -1
		if m.replica() < dying {
			cut = (seed*7919 + m.replica()*104729) % len(text)
		}
		for at := 0; at < len(text); at += 997 {
			end := min(at+997, len(text))
			if cut >= 0 && cut < end {
				os.Stdout.Write(text[at:max(at, cut)])
				fault.Kill.Strike()
			}
			os.Stdout.Write(text[at:end])
		}
		m.leave()
	case "die": // rank args[0], replica args[1] (or all: -1), like args[2]; the others wait for the news
		m := join()
		if len(args) > 3 && args[3] == "survive" {
			m.tell(control.Survive)
		}
		rank, _ := strconv.Atoi(args[0])
		replica, _ := strconv.Atoi(args[1])
		if m.rank() == rank && (replica < 0 || m.replica() == replica) {
			return end(args[2])
		}
		for {
			news, err := m.control.Receive()
			if err != nil {
				return 99
			}
			if news.Type == control.Death {
				fmt.Printf("rank %d hears of %d: %s\n", m.rank(), news.Proc, news.Cause)
				break
			}
		}
		if len(args) > 3 && args[3] == "wait" {
			select {}
		}
		m.leave()
	case "finalized": // finalises, then rank args[0], replica args[1] ends like args[2]
		m := join()
		m.leave()
		rank, _ := strconv.Atoi(args[0])
		replica, _ := strconv.Atoi(args[1])
		if m.rank() == rank && (replica < 0 || m.replica() == replica) {
			return end(args[2])
		}
		time.Sleep(100 * time.Millisecond)
		fmt.Println("late line")
	case "abort": // process args[0] aborts with code args[1]
		m := join()
		if fmt.Sprint(int(m.proc)) == args[0] {
			code, _ := strconv.Atoi(args[1])
			if len(args) > 2 {
				m.pmi.Abort(code, args[2])
			} else {
				m.control.Send(control.Message{Type: control.Abort, Code: code, Text: "told to"})
			}
		}
		m.orphaned()
	case "suspect": // process 0 finds process args[0], which is stopped, silent
		m := join()
		target, _ := strconv.Atoi(args[0])
		if int(m.proc) == target {
			fault.Stop.Strike()
		}
		if m.proc == 0 {
			m.control.Send(control.Message{Type: control.Suspect, Proc: proto.Proc(target), Silent: 1234 * time.Millisecond})
		}
		for {
			news, err := m.control.Receive()
			if err != nil {
				return 99
			}
			if news.Type == control.Death {
				break
			}
		}
		m.leave()
	case "early": // process 1 ends like args[0] before it joins
		m := connect()
		if m.proc == 1 {
			return end(args[0])
		}
		m.pmi.Barrier()
		m.tell(control.Ready)
		m.leave()
	case "cat": // stdin to stdout; a replica can stop (args[0]) before it reads
		m := join()
		if len(args) > 0 && fmt.Sprint(m.replica()) == args[0] && m.rank() == 0 {
			return end(args[1])
		}
		n, err := io.Copy(os.Stdout, os.Stdin)
		if err != nil {
			return 5
		}
		fmt.Fprintf(os.Stderr, "%d bytes\n", n)
		m.leave()
	case "prompt":
		m := join()
		in := bufio.NewReader(os.Stdin)
		if m.rank() == 0 {
			fmt.Print("name? ")
			name, _ := in.ReadString('\n')
			fmt.Printf("hello %s", name)
		}
		m.leave()
	case "differ": // prints lines with the process number
		m := join()
		for i := range 10 {
			fmt.Printf("line %d of process %d\n", i, m.proc)
		}
		m.leave()
	case "sleep": // with a child, until killed
		m := join()
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			return 5
		}
		fmt.Printf("pids %d %d\n", os.Getpid(), child.Process.Pid)
		m.orphaned()
	}
	return 0
}

// end ends a program in a way.
func end(how string) int {
	switch how {
	case "kill":
		fault.Kill.Strike()
	case "stop":
		fault.Stop.Strike()
	case "term":
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(time.Minute)
	}
	code, _ := strconv.Atoi(how)
	return code
}

// testText is some text that differs by rank.
func testText(rank int) string {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "rank %d line %d %s\n", rank, i, strings.Repeat("x", i%70))
	}
	return b.String()
}

// outcome is what a job gave.
type outcome struct {
	report         *Report
	stdout, stderr string
}

// run runs a job of one of the programs. Fields of c win over defaults.
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
		// The race detector has every process end a second late otherwise.
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

// launcher is a launcher as a process of its own. Its job is in the
// environment.
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

// startLauncher starts a launcher and waits until its processes have printed
// lines, which it returns.
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
