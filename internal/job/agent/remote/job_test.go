package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/launcher"
	"banyan/mpi"
)

// roleVariable makes the test's executable an agent or a program of a job.
const roleVariable = "BANYAN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "agent":
		if err := serve(os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "program":
		steps, _ := strconv.Atoi(os.Args[1])
		mpi.Main(func(world *mpi.Comm) error { return diffuse(world, steps) })
	}
	os.Exit(m.Run())
}

// serve is what banyan agent does.
func serve(address, number string) error {
	key, err := secure.ReadKey(os.Stdin)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	local, err := agent.NewLocal()
	if err != nil {
		return err
	}
	return remote.Serve(context.Background(), remote.Config{Addresses: []string{address}, Number: n, Key: key, Agent: local})
}

// diffuse is a program of steps, in each of which the ranks talk and print. Rank 0 echoes its
// input first.
func diffuse(world *mpi.Comm, steps int) error {
	if world.Rank() == 0 {
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return err
		}
	}
	heat := float64(world.Rank() + 1)
	right, left := (world.Rank()+1)%world.Size(), (world.Rank()+world.Size()-1)%world.Size()
	for step := range steps {
		from := make([]float64, 1)
		if _, err := mpi.Sendrecv(world, []float64{heat}, right, 0, from, left, 0); err != nil {
			return err
		}
		heat = (3*heat + from[0]) / 4
		sum := make([]float64, 1)
		if err := mpi.Allreduce(world, []float64{heat}, sum, mpi.Sum[float64]); err != nil {
			return err
		}
		fmt.Printf("rank %d step %d heat %.12f of %.12f %s\n", world.Rank(), step, heat, sum[0], strings.Repeat("x", step%200))
		if step%10 == 0 {
			time.Sleep(2 * time.Millisecond)
		}
	}
	return nil
}

// site is a launcher with agents in processes of their own.
type site struct {
	t      *testing.T
	l      *remote.Listener
	agents []*exec.Cmd
	all    []agent.Agent
}

// shortLease is for tests in which a host is lost.
const shortLease = 2 * time.Second

// newSite starts n agents. through, if given, makes the address at which they find the launcher.
func newSite(t *testing.T, n int, lease time.Duration, through func(to string) string) *site {
	t.Helper()
	key := secure.NewKey()
	l, err := remote.Listen("127.0.0.1:0", key, remote.Options{Lease: lease, Note: func(text string) { t.Log(text) }})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, l: l}
	address := l.Addresses()[0]
	if through != nil {
		address = through(address)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		c := exec.Command(self, address, strconv.Itoa(i))
		c.Env = append(os.Environ(), roleVariable+"=agent")
		c.Stdin, c.Stderr = bytes.NewReader(key.Line()), os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		s.agents = append(s.agents, c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range n {
		a, err := l.Expect(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		s.all = append(s.all, a)
	}
	t.Cleanup(func() {
		l.Close()
		for _, c := range s.agents {
			c.Process.Kill()
			c.Wait()
		}
	})
	return s
}

// result is what a job gave.
type result struct {
	*launcher.Report
	stdout, stderr string
}

// buffer is a buffer that another goroutine looks at.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

const input = "some input\n"

// run runs the program of steps with these agents, none for this process's own. midway is called
// when some of the output is there.
func run(t *testing.T, steps int, agents []agent.Agent, places []int, midway func()) result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr buffer
	c := launcher.Config{
		Ranks: 2, Replicas: 2, Program: self, Args: []string{strconv.Itoa(steps)}, Env: append(os.Environ(), roleVariable+"=program"),
		Agents: agents, Places: places, Stdin: strings.NewReader(input), Stdout: &stdout, Stderr: &stderr, Limit: 2 * time.Minute,
	}
	done := make(chan struct{})
	go func() {
		for midway != nil && stdout.String() == "" {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
		if midway != nil {
			midway()
		}
	}()
	report, err := launcher.Run(c)
	close(done)
	if err != nil {
		t.Fatal(err)
	}
	return result{report, stdout.String(), stderr.String()}
}

// lines are the lines of a rank, in order.
func lines(out string, rank int) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, fmt.Sprintf("rank %d ", rank)) || rank == 0 && line == input {
			b.WriteString(line)
		}
	}
	return b.String()
}

// same compares the output of each rank; the ranks' lines may mix in any order.
func (r result) same(t *testing.T, want result) {
	t.Helper()
	if r.ExitCode != 0 || len(r.stdout) != len(want.stdout) {
		t.Errorf("exit code %d, %d bytes in place of %d; stderr:\n%s", r.ExitCode, len(r.stdout), len(want.stdout), r.stderr)
	}
	for rank := range 2 {
		if lines(r.stdout, rank) != lines(want.stdout, rank) {
			t.Errorf("the output of rank %d differs", rank)
		}
	}
}

// A job over agents on several hosts gives the output of a job on one, whatever happens to an
// agent or to the connections.
func TestJobs(t *testing.T) {
	t.Parallel()
	const steps = 400
	want := run(t, steps, nil, nil, nil)
	if want.ExitCode != 0 || !strings.Contains(want.stdout, "rank 1 step 399 ") || !strings.HasPrefix(lines(want.stdout, 0), input) {
		t.Fatalf("exit code %d, %q", want.ExitCode, want.stderr)
	}
	places := []int{0, 1, 1, 0} // each replica of a rank on a host of its own
	t.Run("undisturbed", func(t *testing.T) {
		s := newSite(t, 2, shortLease, nil)
		r := run(t, steps, s.all, places, nil)
		r.same(t, want)
		s.end()
	})
	t.Run("agent killed", func(t *testing.T) {
		s := newSite(t, 2, shortLease, nil)
		r := run(t, steps, s.all, places, func() { s.agents[1].Process.Kill() })
		r.same(t, want)
		if !strings.Contains(r.stderr, "lost") {
			t.Errorf("stderr %q", r.stderr)
		}
	})
	t.Run("agent told to end", func(t *testing.T) {
		s := newSite(t, 2, shortLease, nil)
		r := run(t, steps, s.all, places, func() { s.agents[0].Process.Signal(os.Interrupt) })
		r.same(t, want)
	})
	t.Run("agent stopped", func(t *testing.T) {
		s := newSite(t, 2, shortLease, nil)
		// Its processes aren't stopped, and may even end. But the launcher hears nothing of them.
		r := run(t, steps, s.all, places, func() { s.agents[1].Process.Signal(syscall.SIGSTOP) })
		r.same(t, want)
		if !strings.Contains(r.stderr, "lost") {
			t.Errorf("stderr %q", r.stderr)
		}
		s.agents[1].Process.Signal(syscall.SIGCONT)
		if err := s.agents[1].Wait(); err == nil {
			t.Error("it went on without its lease")
		}
	})
	t.Run("connections cut", func(t *testing.T) {
		var cut func()
		s := newSite(t, 2, time.Minute, func(to string) (address string) { address, cut = relay(t, to); return })
		stop := make(chan struct{})
		var cutting sync.WaitGroup
		r := run(t, steps, s.all, places, func() {
			cutting.Go(func() {
				// On a slow machine the agents take longer than that to come back.
				for pause := 100 * time.Millisecond; ; pause += pause / 4 {
					cut()
					select {
					case <-stop:
						return
					case <-time.After(pause):
					}
				}
			})
		})
		close(stop)
		cutting.Wait()
		r.same(t, want)
		if len(r.Deaths) > 0 {
			t.Errorf("a cut connection killed: %+v", r.Deaths)
		}
	})
}

// end ends the agents in order: they leave within a second or so, with exit code 0.
func (s *site) end() {
	s.t.Helper()
	if err := s.l.Close(); err != nil {
		s.t.Error(err)
	}
	for i, c := range s.agents {
		if err := c.Wait(); err != nil {
			s.t.Errorf("agent %d: %v", i, err)
		}
	}
}

// relay passes connections on. cut breaks all that there are.
func relay(t *testing.T, to string) (address string, cut func()) {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	var mu sync.Mutex
	var conns []net.Conn
	go func() {
		for {
			c, err := socket.Accept()
			if err != nil {
				return
			}
			d, err := net.Dial("tcp", to)
			if err != nil {
				c.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, c, d)
			mu.Unlock()
			for _, way := range [][2]net.Conn{{c, d}, {d, c}} {
				go func() {
					io.Copy(way[1], way[0])
					way[0].Close()
					way[1].Close()
				}()
			}
		}
	}()
	return socket.Addr().String(), func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
		conns = nil
	}
}
