package views

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"banyan/bench/processes"
	"banyan/internal/study/planning/risk"
)

const (
	// startLimit bounds the start of a job, changeLimit a change of view, endLimit its end.
	startLimit  = time.Minute
	changeLimit = 30 * time.Second
	endLimit    = 5 * time.Second
	// rest is how long a job runs before the kill.
	rest = 300 * time.Millisecond
	// jobLimit is for the launcher, if the bench is killed.
	jobLimit = 3 * time.Minute
)

// job is a job that runs.
type job struct {
	launcher *exec.Cmd
	said     *bytes.Buffer // by the launcher and the processes; complete when ended is closed
	ended    chan struct{}
	table    *processes.Table
	stop     context.CancelFunc
}

// start starts a job.
func (p *Plan) start(ctx context.Context, s Setting) (*job, error) {
	t, err := processes.NewTable("banyan bench views", s.N*rowWords)
	if err != nil {
		return nil, err
	}
	ranks := s.N / s.replicas()
	args := []string{
		"run", "-n", strconv.Itoa(ranks), "--replicas", strconv.Itoa(s.replicas()), "--timeout", jobLimit.String(),
		"--heartbeat-period", jobPeriod.String(), "--heartbeat-timeout", jobTimeout.String(),
	}
	args = slices.Concat(args, p.Role, []string{t.Path(), strconv.Itoa(s.N), string(s.Program)})
	ctx, stop := context.WithCancel(ctx)
	j := &job{said: new(bytes.Buffer), ended: make(chan struct{}), table: t, stop: stop}
	j.launcher = exec.CommandContext(ctx, p.Banyan, args...)
	j.launcher.Stdout, j.launcher.Stderr = j.said, j.said
	j.launcher.Cancel = func() error { return j.launcher.Process.Signal(os.Interrupt) } // it cleans up then
	j.launcher.WaitDelay = endLimit
	if err := j.launcher.Start(); err != nil {
		stop()
		t.Close()
		return nil, err
	}
	go func() {
		_ = j.launcher.Wait() // it is interrupted, so there is an error
		close(j.ended)
	}()
	return j, nil
}

// close ends the job and waits for its end.
func (j *job) close() {
	j.stop()
	<-j.ended
	j.table.Close()
}

// fail adds what the job has said to an error. It ends the job.
func (j *job) fail(what string) error {
	j.stop()
	<-j.ended
	if said := bytes.TrimSpace(j.said.Bytes()); len(said) > 0 {
		return fmt.Errorf("%s; the job says: %.500s", what, said)
	}
	return errors.New(what)
}

func (j *job) word(process, word int) int64 { return j.table.Word(process*rowWords + word).Load() }

// job runs a job, kills some of its processes, and measures the others.
func (p *Plan) job(ctx context.Context, s Setting, victims []int) (Row, error) {
	row := Row{Setting: s}
	j, err := p.start(ctx, s)
	if err != nil {
		return row, err
	}
	defer j.close()
	late := 0
	all := func(done func(process int) bool) func() bool {
		late = 0
		return func() bool {
			for ; late < s.N; late++ {
				if !done(late) {
					return false
				}
			}
			return true
		}
	}
	if !processes.WaitFor(j.ended, startLimit, all(func(q int) bool { return j.word(q, wordNumber) != 0 })) {
		return row, j.fail(fmt.Sprintf("process %d has no view", late))
	}
	select {
	case <-j.ended:
		return row, j.fail("the job has ended by itself")
	case <-time.After(rest):
	}
	killed := processes.Monotonic()
	for _, v := range victims {
		if err := unix.Kill(int(j.word(v, wordPid)), unix.SIGKILL); err != nil {
			return row, j.fail(fmt.Sprintf("killing process %d: %v", v, err))
		}
	}
	has := func(q int) bool {
		return slices.Contains(victims, q) || j.word(q, wordNumber) > 1 && j.word(q, wordMembers) == int64(s.Live())
	}
	if !processes.WaitFor(j.ended, changeLimit, all(has)) {
		return row, j.fail(fmt.Sprintf("process %d has view %d, of %d members: want one of %d", late, j.word(late, wordNumber), j.word(late, wordMembers), s.Live()))
	}
	first, last := int64(0), int64(0)
	for q := range s.N {
		if slices.Contains(victims, q) {
			continue
		}
		if at := j.word(q, wordInstalled); first == 0 || at < first {
			first = at
		}
		last = max(last, j.word(q, wordInstalled))
	}
	if first < killed {
		return row, j.fail("a view without the dead was there before their death")
	}
	const ns = 1e-9
	row.First, row.All = risk.Seconds(first-killed)*ns, risk.Seconds(last-killed)*ns
	return row, nil
}
