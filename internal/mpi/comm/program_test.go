package comm_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/join"
	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
)

// asProgram makes the test's executable a program of a job: one of programs.
const asProgram = "BANYAN_TEST_AS"

var programs = map[string]func(w *comm.Comm, arguments []int) error{
	"survive":   survive,
	"race":      race,
	"share":     share,
	"ways":      waysProgram,
	"exchanges": exchangesProgram,
	"resilient": resilient,
	"agrees":    agrees,
}

func TestMain(m *testing.M) {
	name := os.Getenv(asProgram)
	if name == "" {
		os.Exit(m.Run())
	}
	var arguments []int
	for _, a := range os.Args[1:] {
		n, err := strconv.Atoi(a)
		if err != nil {
			panic(err)
		}
		arguments = append(arguments, n)
	}
	if err := member(programs[name], arguments); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func member(program func(w *comm.Comm, arguments []int) error, arguments []int) error {
	j, err := join.Join(join.Options{SurviveRankLoss: true})
	if err != nil {
		return err
	}
	w, err := comm.World(j.Engine)
	if err != nil {
		return err
	}
	if err := program(w, arguments); err != nil {
		return err
	}
	return j.Leave()
}

// processes runs a program as a job of processes and returns what it printed and how the job ended.
// With Debug no process is suspected for silence.
func processes(t testing.TB, ranks int, debug bool, transport, program string, arguments ...int) (stdout, stderr string, report *launcher.Report) {
	t.Helper()
	return processesOver(t, ranks, debug, transport, "", program, arguments...)
}

// processesOver is processes with a scheme of broadcasts.
func processesOver(t testing.TB, ranks int, debug bool, transport, bcast, program string, arguments ...int) (stdout, stderr string, report *launcher.Report) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, a := range arguments {
		args = append(args, strconv.Itoa(a))
	}
	var out, errs bytes.Buffer
	report, err = launcher.Run(launcher.Config{
		Ranks: ranks, Replicas: 1, Debug: debug, Transport: transport, Bcast: bcast, Program: executable, Args: args, Limit: 2 * time.Minute,
		Env:   append(os.Environ(), asProgram+"="+program),
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), report
}

// dieWithin kills this process at a random moment.
func dieWithin(limit time.Duration) {
	time.Sleep(rand.N(limit))
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
