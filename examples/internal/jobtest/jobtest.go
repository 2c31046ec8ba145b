// Package jobtest runs the example programs as jobs, for their tests.
package jobtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/launcher"
	"banyan/mpi"
)

// asProgram makes a test's executable the program itself.
const asProgram = "BANYAN_TEST_AS_PROGRAM"

// Main is for TestMain. The test's executable is also the program, main, of the jobs that Run
// starts.
func Main(m *testing.M, main func()) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// Result is a job's output, and how it ended.
type Result struct {
	*launcher.Report
	Stdout, Stderr string
}

// Run runs the program as a job of processes, with a plan of faults. The job may have a stderr; Run
// sets its other streams.
func Run(t *testing.T, faults string, job launcher.Config) Result {
	t.Helper()
	plan, err := fault.Parse(faults)
	if err != nil {
		t.Fatal(err)
	}
	if job.Program, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(2*time.Minute, func() { panic("hangs: " + Command(faults, job)) })
	defer hang.Stop()
	var out, errs bytes.Buffer
	job.Faults, job.Stdin, job.Stdout = plan, strings.NewReader(""), &out
	job.Env = append(append(os.Environ(), asProgram+"=1"), job.Env...)
	if job.Stderr == nil {
		job.Stderr = &errs
	}
	report, err := launcher.Run(job)
	if err != nil {
		t.Fatal(err)
	}
	return Result{report, out.String(), errs.String()}
}

// Command is the command line with which a user starts the same job.
func Command(faults string, job launcher.Config) string {
	ranks, replicas := job.Ranks, fmt.Sprint(job.Replicas)
	if len(job.Degrees) > 0 {
		each := make([]string, len(job.Degrees))
		for rank, degree := range job.Degrees {
			each[rank] = fmt.Sprintf("%d:%d", rank, degree)
		}
		ranks, replicas = len(each), strings.Join(each, ",")
	}
	protocol := job.Protocol
	if protocol == "" {
		protocol = launcher.ProtocolParallel
	}
	return fmt.Sprintf("banyan run -n %d --replicas %s --protocol %s --fault '%s' PROGRAM %s", ranks, replicas, protocol, faults, strings.Join(job.Args, " "))
}

// Print runs a program in this process, on n ranks, and returns what each replica of rank 0
// printed. It discards the output of the other ranks.
func Print(t *testing.T, n, replicas int, run func(world *mpi.Comm, to io.Writer) error) (all []string) {
	t.Helper()
	outs := make(chan string, replicas)
	err := mpi.Local(n, func(world *mpi.Comm) error {
		if world.Rank() != 0 {
			return run(world, io.Discard)
		}
		var out bytes.Buffer
		err := run(world, &out)
		outs <- out.String()
		return err
	}, mpi.WithReplicas(replicas))
	if err != nil {
		t.Fatal(err)
	}
	close(outs)
	for out := range outs {
		all = append(all, out)
	}
	return all
}
