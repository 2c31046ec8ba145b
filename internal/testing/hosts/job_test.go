package hosts_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/job/pmi/pmitest"
	"banyan/internal/testing/hosts"
	"banyan/mpi"
)

// roundsVariable makes the test binary a program of a job, which adds so many numbers.
const roundsVariable = "MULTIHOST_TEST_ROUNDS"

// pauseVariable is the time between two sums.
const pauseVariable = "MULTIHOST_TEST_PAUSE"

// surviveVariable has the program survive the loss of ranks.
const surviveVariable = "MULTIHOST_TEST_SURVIVE"

// holdVariable has the program wait for the end of its standard input before this round.
const holdVariable = "MULTIHOST_TEST_HOLD"

// program adds up numbers. If a rank is lost it waits until its process is ended.
func program(world *mpi.Comm) error {
	rounds, err := strconv.Atoi(os.Getenv(roundsVariable))
	if err != nil {
		return err
	}
	pause, err := time.ParseDuration(os.Getenv(pauseVariable))
	if err != nil {
		return err
	}
	hold := -1
	if text := os.Getenv(holdVariable); text != "" {
		if hold, err = strconv.Atoi(text); err != nil {
			return err
		}
	}
	i, total := 0, 0
	if err := mpi.Register(world, "round", &i); err != nil {
		return err
	}
	if err := mpi.Register(world, "total", &total); err != nil {
		return err
	}
	for ; i < rounds; i++ {
		if i == hold {
			io.Copy(io.Discard, os.Stdin)
		}
		if _, err := world.Safepoint(); err != nil {
			return err
		}
		sum := []int{0}
		if err := mpi.Allreduce(world, []int{i + world.Rank()}, sum, mpi.Sum); err != nil {
			time.Sleep(time.Minute)
			return err
		}
		total += sum[0]
		fmt.Fprintln(os.Stderr, "round", i)
		time.Sleep(pause)
	}
	fmt.Printf("rank %d: %d\n", world.Rank(), total)
	return nil
}

// result is what a rank prints.
func result(rank, ranks, rounds int) string {
	total := 0
	for i := range rounds {
		total += ranks*i + ranks*(ranks-1)/2
	}
	return fmt.Sprintf("rank %d: %d\n", rank, total)
}

// setting describes a job.
type setting struct {
	ranks, replicas, rounds int
	spares                  int           // processes beyond those
	place                   []int32       // the host of each process
	period, timeout         time.Duration // η and δ
	pause                   time.Duration // between rounds
	mortal                  bool          // the loss of a rank ends a process
	encrypt                 string        // env.Encrypt, the same for all
	hold                    bool          // the job waits after the first rounds, until goOn is called
}

// firstRounds are those after which a process takes part.
const firstRounds = 2

// run is a running job, started as by a launcher that doesn't learn of deaths on other hosts: over
// PMI, without a lifeline.
type run struct {
	setting
	t       *testing.T
	members []*member
	goOn    func()
}

// member is one process, as its starter sees it.
type member struct {
	proc   int
	stdout bytes.Buffer
	end    chan int // its exit code, once
	kill   func() error

	mu     sync.Mutex
	round  int               // the last round, -1: not begun
	deaths map[int]time.Time // the deaths it knows, and since when
	causes map[int]string
	words  string // the rest of what it wrote to stderr
}

var deathLine = regexp.MustCompile(`msg="a process died" self=\d+ proc=(\d+) cause=(\w+)`)

// listen reads the process's stderr. Deaths that it reports after its last round don't count:
// without a launcher, the end of a process that has left may look like a death.
func (m *member) listen(from io.Reader, last int) {
	for s := bufio.NewScanner(from); s.Scan(); {
		line := s.Text()
		m.mu.Lock()
		if round, ok := strings.CutPrefix(line, "round "); ok {
			m.round, _ = strconv.Atoi(round)
		} else if d := deathLine.FindStringSubmatch(line); d != nil {
			if q, _ := strconv.Atoi(d[1]); m.round < last {
				m.deaths[q], m.causes[q] = time.Now(), d[2]
			}
		} else {
			m.words += line + "\n"
		}
		m.mu.Unlock()
	}
}

// knows says whether a process holds all others of a list for dead, and since when it holds the
// last of them for dead.
func (m *member) knows(dead []int) (since time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range dead {
		at, ok := m.deaths[d]
		if !ok {
			return since, false
		}
		if at.After(since) {
			since = at
		}
	}
	return since, true
}

func (m *member) progress() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.round
}

func (m *member) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("process %d (round %d, knows of %v, says %q)", m.proc, m.round, m.causes, m.words)
}

// start starts a job on the hosts of a network and waits until all take part.
func start(t *testing.T, n *hosts.Network, s setting) *run {
	t.Helper()
	r := &run{setting: s, t: t}
	server := pmi.NewServer(len(s.place), "test", func(rank, code int, message string) {
		t.Errorf("process %d ends the whole job: %s", rank, message)
	})
	server.SetHosts(s.place)
	stdin, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	r.goOn = func() { hold.Close() }
	t.Cleanup(r.goOn)
	for i, host := range s.place {
		m := &member{proc: i, end: make(chan int, 1), round: -1, deaths: map[int]time.Time{}, causes: map[int]string{}}
		cmd := exec.Command("/proc/self/exe")
		cmd.Stdin, cmd.Stdout = stdin, &m.stdout
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), fmt.Sprint(roundsVariable, "=", s.rounds), fmt.Sprint(pauseVariable, "=", s.pause), env.Debug+"=1",
			env.Entry(env.Replicas, s.replicas), "GORACE=atexit_sleep_ms=0",
			// The hosts share this machine. If each took all its cores for its own, dozens of ranks
			// would poll on them and starve each other for longer than the time-out.
			env.Entry(env.Cores, 1),
			env.Entry(env.HeartbeatPeriod, s.period), env.Entry(env.HeartbeatTimeout, s.timeout))
		if s.spares > 0 {
			cmd.Env = append(cmd.Env, env.Entry(env.Spares, s.spares))
		}
		if s.encrypt != "" {
			cmd.Env = append(cmd.Env, env.Entry(env.Encrypt, s.encrypt))
		}
		if s.hold {
			cmd.Env = append(cmd.Env, fmt.Sprint(holdVariable, "=", firstRounds))
		}
		if !s.mortal {
			cmd.Env = append(cmd.Env, surviveVariable+"=1")
		}
		attached := pmitest.Attach(t, server, cmd, i, len(s.place))
		if err := n.Host(int(host)).Start(cmd); err != nil {
			t.Fatal(err)
		}
		attached()
		m.kill = cmd.Process.Kill
		t.Cleanup(func() { m.kill() })
		go func() {
			m.listen(stderr, s.rounds-1)
			cmd.Wait()
			server.Gone(i)
			m.end <- cmd.ProcessState.ExitCode()
		}()
		r.members = append(r.members, m)
	}
	r.await("all take part", func() bool {
		for _, m := range r.members[:s.ranks*s.replicas] {
			if m.progress() < firstRounds-1 {
				return false
			}
		}
		return true
	})
	return r
}

// await waits for something that is bound to happen.
func (r *run) await(what string, ok func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("not so: %s\n%v", what, r.members)
		}
	}
}

// awaitKnowledge waits until some processes hold others for dead, and returns when the last of them
// began to.
func (r *run) awaitKnowledge(some, dead []int) (last time.Time) {
	r.t.Helper()
	for _, p := range some {
		r.await(fmt.Sprintf("process %d takes %v for dead", p, dead), func() bool {
			since, ok := r.members[p].knows(dead)
			if since.After(last) {
				last = since
			}
			return ok
		})
	}
	return last
}

// exit waits for the end of a process.
func (r *run) exit(p int) int {
	r.t.Helper()
	select {
	case code := <-r.members[p].end:
		return code
	case <-time.After(20 * time.Second):
		r.t.Fatalf("it hangs: %v", r.members[p])
		return 0
	}
}

// expectResults says that some processes end well, with the undisturbed result.
func (r *run) expectResults(some []int) {
	r.t.Helper()
	for _, p := range some {
		m := r.members[p]
		want := result(p%r.ranks, r.ranks, r.rounds)
		if code := r.exit(p); code != 0 || m.stdout.String() != want {
			r.t.Errorf("exit code %d, output %q, want %q: %v", code, m.stdout.String(), want, m)
		}
	}
}

// expectExcluded says that some processes are told that they are excluded, and stop.
func (r *run) expectExcluded(some []int) {
	r.t.Helper()
	r.expectFailure(some, "of the job holds this one for dead: it stops")
}

// expectStopped says that some processes stop, because they are told that they are excluded or
// because they find too few of the others.
func (r *run) expectStopped(some []int) {
	r.t.Helper()
	for _, p := range some {
		m := r.members[p]
		code := r.exit(p)
		told := strings.Contains(m.words, "of the job holds this one for dead: it stops")
		if code != 1 || !told && !strings.Contains(m.words, minority) || m.stdout.Len() > 0 {
			r.t.Errorf("exit code %d, output %q: %v", code, m.stdout.String(), m)
		}
	}
}

// minority is the message of a process that gives up because it has no quorum.
const minority = "they may go on without this side, which stops"

// expectFailure says that some processes end badly, with a message.
func (r *run) expectFailure(some []int, message string) {
	r.t.Helper()
	for _, p := range some {
		m := r.members[p]
		if code := r.exit(p); code != 1 || !strings.Contains(m.words, message) || m.stdout.Len() > 0 {
			r.t.Errorf("exit code %d, output %q: %v", code, m.stdout.String(), m)
		}
	}
}

// expectNoDeaths says that some processes never held others for dead, with some exceptions.
func (r *run) expectNoDeaths(some []int, but ...int) {
	r.t.Helper()
	allowed := map[int]bool{}
	for _, p := range but {
		allowed[p] = true
	}
	for _, p := range some {
		m := r.members[p]
		m.mu.Lock()
		for q, cause := range m.causes {
			if !allowed[q] {
				r.t.Errorf("process %d took %d for dead: %s", p, q, cause)
			}
		}
		m.mu.Unlock()
	}
}
