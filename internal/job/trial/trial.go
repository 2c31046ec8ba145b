package trial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/ianlancetaylor/demangle"

	"banyan/internal/job/check"
	"banyan/internal/job/launcher"
	"banyan/internal/proto"
)

// Config says what to try.
type Config struct {
	// Job is the job of each run. Its Replicas are at least 2, and it has neither Procs nor Stop.
	// What it prints may be discarded: the end of its standard error is kept here, too.
	Job launcher.Config
	// Input gives each run its standard input.
	Input func() io.Reader
	Runs  int    // at most; the first that diverges or fails is the last
	Seed  uint64 // of the first run's delays; the next run has the next seed
	// Patience bounds the time in which no rank sends anything.
	Patience time.Duration
	// Progress is called after each run with the number of runs that are over. It may be nil.
	Progress func(runs int)
}

// ranks is the number of ranks of all programs.
func (c *Config) ranks() int {
	n := c.Job.Ranks
	for _, p := range c.Job.More {
		n += p.Ranks
	}
	return n
}

// procs are the processes of a rank, by replica.
func (c *Config) procs(rank int) []proto.Proc {
	procs := make([]proto.Proc, c.Job.Replicas)
	for k := range procs {
		procs[k] = proto.Proc(k*c.ranks() + rank)
	}
	return procs
}

// An InterruptedError says that a signal ended a run.
type InterruptedError struct {
	ExitCode int // 128 + the signal's number
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("a signal ended the run (exit code %d)", e.ExitCode)
}

// Run makes the runs, up to the first that diverges or fails. Errors are *launcher.StartError for a
// program that can't be started, *InterruptedError, or those of the machine, such as a full disk.
func Run(c Config) (*Verdict, error) {
	v := &Verdict{
		Ranks: c.ranks(), Replicas: c.Job.Replicas, Planned: c.Runs, FirstSeed: c.Seed,
		Payloads: make(check.Sites),
	}
	for v.Runs < c.Runs && !v.Diverged() && v.Failure == "" {
		v.Seed = c.Seed + uint64(v.Runs)
		if err := c.once(v); err != nil {
			return nil, err
		}
		v.Runs++
		if c.Progress != nil {
			c.Progress(v.Runs)
		}
	}
	return v, nil
}

const (
	// lookEvery is how often the records are read while the job runs.
	lookEvery = 20 * time.Millisecond
	// afterwards is how long a job goes on after a difference, so that the other ranks'
	// differences show which was the first.
	afterwards = 200 * time.Millisecond
)

// once makes one run and adds what it finds.
func (c *Config) once(v *Verdict) error {
	dir, err := os.MkdirTemp("", "banyan-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	comparison := check.Compare(check.Job{Dir: dir, Ranks: c.ranks(), Procs: c.procs, Order: c.Job.Order, Readable: readable})
	defer comparison.Close()
	stop, said := make(chan struct{}), new(tail)
	job := c.job(check.Environment(dir, v.Seed, v.look()), said)
	job.Stop = stop
	var report *launcher.Report
	var failed error
	ended := make(chan struct{})
	go func() {
		report, failed = launcher.Run(job)
		close(ended)
	}()
	stalled, err := c.follow(comparison, ended)
	close(stop)
	<-ended
	if start := (*launcher.StartError)(nil); errors.As(failed, &start) {
		return failed
	}
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	return c.judge(v, comparison, report, stalled, said)
}

// readable is the name of a function as C++ has it, without its parameters.
func readable(symbol string) string { return demangle.Filter(symbol, demangle.NoParams) }

// job is the job of one run.
func (c *Config) job(environment []string, stderr io.Writer) launcher.Config {
	job := c.Job
	job.Env = slices.Concat(job.Env, environment)
	job.More = slices.Clone(job.More)
	for i := range job.More {
		job.More[i].Env = slices.Concat(job.More[i].Env, environment)
	}
	if c.Input != nil {
		job.Stdin = c.Input()
	}
	if job.Stdout == nil {
		job.Stdout = io.Discard
	}
	if job.Stderr != nil {
		stderr = io.MultiWriter(job.Stderr, stderr)
	}
	job.Stderr = stderr
	return job
}

// follow compares while the job runs: to its end, to a difference, or until nothing has moved for
// too long.
func (c *Config) follow(comparison *check.Comparison, ended <-chan struct{}) (stalled bool, err error) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var enough <-chan time.Time // set when there is a difference
	for moved := time.Now(); ; {
		select {
		case <-ended:
			return false, nil
		case <-enough:
			return false, nil
		case <-look.C:
		}
		more, err := comparison.Advance()
		switch {
		case err != nil:
			return false, err
		case more:
			moved = time.Now()
		case enough == nil && time.Since(moved) > c.Patience:
			return true, nil
		}
		if enough == nil && comparison.Diverged() {
			enough = time.After(afterwards)
		}
	}
}

// judge adds the findings of a run that has ended.
func (c *Config) judge(v *Verdict, comparison *check.Comparison, report *launcher.Report, stalled bool, said *tail) error {
	if _, err := comparison.Advance(); err != nil {
		return err
	}
	s, err := comparison.Summary()
	if err != nil {
		return err
	}
	v.Calls += s.Calls
	v.Payloads.Add(s.Payloads)
	v.see(s)
	if v.Payload == nil && s.Payload != nil {
		v.Payload, v.PayloadSeed = s.Payload, v.Seed
	}
	switch {
	case len(s.Found) > 0:
		v.Findings = s
	case report.Outcome == launcher.OutcomeInterrupted && !stalled:
		return &InterruptedError{report.ExitCode}
	case stalled:
		v.Failure = fmt.Sprintf("no rank has sent anything for %v", c.Patience)
	case report.ExitCode != 0:
		v.Failure = fmt.Sprintf("the job ended with exit code %d", report.ExitCode)
		if report.Reason != "" {
			v.Failure += ": " + report.Reason
		}
	case s.Calls == 0:
		v.Failure = "no replicas have sent anything: does the program use the library?"
		if v.Ranks == 1 {
			v.Failure = "no replicas have sent anything: how many ranks are there to be (-n)?"
		}
	case s.Cut != nil:
		v.Failure = fmt.Sprintf("the record of rank %d ends before its program does: is there room in %s?", s.Cut[0], os.TempDir())
	}
	if v.Failure != "" {
		v.Output = string(said.kept)
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct{ kept []byte }

const tailKept = 4 << 10 // bytes

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - tailKept; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(b), nil
}
