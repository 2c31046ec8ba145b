package join_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/pmi/pmitest"
	"banyan/mpi"
)

// The test binary is also the program of the jobs that the tests start. They have only PMI, as
// under another launcher than "banyan run".
func TestMain(m *testing.M) {
	switch os.Getenv("JOB_TEST_PROGRAM") {
	case "":
	case "stroll":
		giveInput()
		mpi.Main(stroll)
	default:
		mpi.Main(program)
	}
	flag.Set("test.parallel", "3") // they wait for each other's processes more than they compute
	os.Exit(m.Run())
}

const rounds = 100

// program adds up numbers for a second.
func program(world *mpi.Comm) error {
	total := 0
	for i := range rounds {
		sum := []int{0}
		if err := mpi.Allreduce(world, []int{i + world.Rank()}, sum, mpi.Sum); err != nil {
			return err
		}
		total += sum[0]
		if dir := os.Getenv("JOB_TEST_DIR"); dir != "" && i == rounds/10 {
			leaveNote(dir, strconv.Itoa(os.Getpid()), "")
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("rank %d of %d: %d\n", world.Rank(), world.Size(), total)
	return nil
}

// result is what a rank prints.
func result(rank, size int) string {
	total := 0
	for i := range rounds {
		total += size*i + size*(size-1)/2
	}
	return fmt.Sprintf("rank %d of %d: %d\n", rank, size, total)
}

// start starts ranks × replicas processes that find each other by PMI only, and waits until all
// take part.
func start(t *testing.T, ranks, replicas int, set ...string) []*member {
	t.Helper()
	dir := t.TempDir()
	members := startAll(t, ranks*replicas, append(set, env.Entry(env.Replicas, replicas), "JOB_TEST_DIR="+dir)...)
	// A process that stops or dies before all take part would hold up PMI's barrier.
	for _, m := range members {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, strconv.Itoa(m.Cmd.Process.Pid))); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("a process doesn't take part; stderr: %s", m.Stderr.String())
			}
		}
	}
	return members
}

// startAll starts n processes.
func startAll(t *testing.T, n int, set ...string) []*member {
	t.Helper()
	return startEach(t, n, func(int) []string { return set })
}

// startEach starts n processes, each with environment variables of its own.
func startEach(t *testing.T, n int, set func(i int) []string) []*member {
	t.Helper()
	var members []*member
	for _, p := range pmitest.Start(t, n, func(i int) *exec.Cmd { return command(set(i)...) }) {
		members = append(members, &member{p})
	}
	return members
}

// command is this executable as a program.
func command(set ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JOB_TEST_PROGRAM=1", "GORACE=atexit_sleep_ms=0", env.HeartbeatPeriod+"=50ms", env.HeartbeatTimeout+"=500ms")
	cmd.Env = append(cmd.Env, set...)
	return cmd
}

// member is a process of a job.
type member struct{ *pmitest.Process }

// wait waits for a process's end and returns its exit code.
func (m *member) wait(t *testing.T) int {
	t.Helper()
	return m.Await(t, 30*time.Second)
}

func (m *member) expect(t *testing.T, rank, size int) {
	t.Helper()
	if code := m.wait(t); code != 0 || m.Stdout.String() != result(rank, size) {
		t.Errorf("exit code %d, output %q, stderr %q", code, &m.Stdout, &m.Stderr)
	}
}

func TestAlone(t *testing.T) {
	m := &member{pmitest.Alone(t, command())}
	m.expect(t, 0, 1)
}

// A process that another launcher has started as one of several is refused, unless its user says
// that it is a job of its own.
func TestOneOfSeveralIsRefused(t *testing.T) {
	open := []string{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"}
	m := &member{pmitest.Alone(t, command(open...))}
	want := "joining the job: this process is one of 2 that Open MPI's mpirun started"
	if code := m.wait(t); code != 1 || !strings.Contains(m.Stderr.String(), want) {
		t.Errorf("exit code %d, stderr %q", code, m.Stderr.String())
	}
	m = &member{pmitest.Alone(t, command(append(open, env.Alone+"=1")...))}
	m.expect(t, 0, 1)
}

// PMI counts, whatever the variables of launchers around the job say.
func TestJobInsideAnotherJob(t *testing.T) {
	for rank, m := range startAll(t, 2, "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=4", env.Alone+"=1") {
		m.expect(t, rank, 2)
	}
}

// Without a lifeline a death is detected by the end of a connection and the kernel's answer.
func TestDeathIsFoundWithoutLauncher(t *testing.T) {
	members := start(t, 2, 2)
	members[3].Cmd.Process.Kill()
	for i, m := range members[:3] {
		m.expect(t, i%2, 2)
	}
}

// A process that is stopped counts as dead because of its silence. When it wakes it is told so,
// and ends.
func TestFencedProcessStops(t *testing.T) {
	members := start(t, 2, 2)
	stopped := members[3]
	stopped.Cmd.Process.Signal(syscall.SIGSTOP)
	for i, m := range members[:3] {
		m.expect(t, i%2, 2)
	}
	stopped.Cmd.Process.Signal(syscall.SIGCONT)
	if code := stopped.wait(t); code != 1 || !strings.Contains(stopped.Stderr.String(), "for dead") {
		t.Errorf("the stopped process ended with %d and said %q", code, stopped.Stderr.String())
	}
	if stopped.Stdout.String() != "" {
		t.Errorf("the stopped process printed %q", stopped.Stdout.String())
	}
}

func TestLostRankEndsTheJob(t *testing.T) {
	members := start(t, 3, 1)
	members[1].Cmd.Process.Kill()
	named := false
	for _, m := range []*member{members[0], members[2]} {
		// The second may hear first that the first has ended for that reason.
		if code := m.wait(t); code != 1 || !strings.Contains(m.Stderr.String(), "is lost") {
			t.Errorf("exit code %d, stderr %q", code, m.Stderr.String())
		}
		named = named || strings.Contains(m.Stderr.String(), "rank 1 is lost")
	}
	if !named {
		t.Error("no process names the rank that was lost first")
	}
}

// Ranks choose how to broadcast by the media that they are allowed: they must agree.
func TestMediaDiffer(t *testing.T) {
	media := func(of ...string) func(int) []string {
		return func(i int) []string { return []string{env.Transport + "=" + of[i]} }
	}
	members := startEach(t, 3, media("shm", "auto", "tcp"))
	want := "BANYAN_TRANSPORT differs: process 0 of the job goes by shared-memory, and process 2 by sockets"
	if code := members[2].wait(t); code != 1 || !strings.Contains(members[2].Stderr.String(), want) {
		t.Errorf("exit code %d, stderr %q", code, members[2].Stderr.String())
	}
	for rank, m := range startEach(t, 2, media("shm", "auto")) {
		m.expect(t, rank, 2)
	}
}

// Ranks must agree on the tree of their broadcasts too.
func TestSchemesDiffer(t *testing.T) {
	schemes := func(of ...string) func(int) []string {
		return func(i int) []string { return []string{env.Bcast + "=" + of[i]} }
	}
	members := startEach(t, 2, schemes("tree=lame", ""))
	want := "BANYAN_BCAST differs: process 0 of the job goes by tree=lame:2,"
	if code := members[1].wait(t); code != 1 || !strings.Contains(members[1].Stderr.String(), want) {
		t.Errorf("exit code %d, stderr %q", code, members[1].Stderr.String())
	}
	for rank, m := range startEach(t, 2, schemes("tree=lame", "tree=lame:2,after=50us")) {
		m.expect(t, rank, 2)
	}
}

func TestBadEnvironment(t *testing.T) {
	for variables, message := range map[string]string{
		env.Replicas + "=0":                                         "positive number",
		env.HeartbeatPeriod + "=soon":                               "positive duration",
		env.HeartbeatTimeout + "=1ms":                               "at least 10ms where no period is given",
		env.HeartbeatPeriod + "=1s " + env.HeartbeatTimeout + "=1s": "at least 2 periods",
		env.LocalRanks + "=x":                                       "positive number",
		env.Transport + "=udp":                                      "there are auto, shm and tcp",
		env.Bcast + "=tree=oak":                                     "want binomial, kary, lame",
		"PMI_FD=99":                                                 "",
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(append(os.Environ(), "JOB_TEST_PROGRAM=1", "PMI_RANK=0", "PMI_SIZE=1"), strings.Fields(variables)...)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), message) {
			t.Errorf("%s: %v, %s", variables, err, out)
		}
	}
}
