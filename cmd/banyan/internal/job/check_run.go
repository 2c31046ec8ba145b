package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/check"
	"banyan/internal/job/launcher"
	"banyan/internal/proto"
)

// verdict is what a check has found, over all its runs.
type verdict struct {
	runs     int    // made
	seed     uint64 // of the last
	calls    int    // compared, and alike in control
	findings *check.Summary
	// Of payloads, in all runs:
	payloads    check.Sites
	payload     *check.Difference // the first
	payloadSeed uint64
	failure     string // why a run came to nothing
	output      string // the end of the job's output, then
	code        int    // to exit with
}

// check makes the runs, up to the first that diverges or fails.
func (f *checkFlags) check(out io.Writer) error {
	v := &verdict{payloads: make(check.Sites)}
	bar := cli.NewProgress(f.runs, "checking")
	for v.runs < f.runs && v.code == 0 {
		v.seed = f.seed + uint64(v.runs)
		if err := f.runOnce(v); err != nil {
			bar.Clear()
			return err
		}
		v.runs++
		bar.Set(v.runs)
	}
	bar.Clear()
	if f.strict && v.payload != nil && v.code == 0 {
		v.code = checkDiverged
	}
	if err := v.write(out, f); err != nil {
		return err
	}
	if v.code != 0 {
		return cli.Exit(v.code, nil)
	}
	return nil
}

const (
	// lookEvery is how often check reads the records while the job runs.
	lookEvery = 20 * time.Millisecond
	// afterwards is how long a job goes on after a difference, so that the other ranks'
	// differences show which was the first.
	afterwards = 200 * time.Millisecond
)

// runOnce makes one run and adds what it finds.
func (f *checkFlags) runOnce(v *verdict) error {
	dir, err := os.MkdirTemp("", "banyan-check-")
	if err != nil {
		return cli.Exit(checkFailed, err)
	}
	defer os.RemoveAll(dir)
	c := check.Compare(check.Job{Dir: dir, Ranks: f.ranks, Procs: f.procs})
	defer c.Close()
	stop, said := make(chan struct{}), new(tail)
	config := f.config(check.Environment(dir, v.seed), said)
	config.Stop = stop
	var report *launcher.Report
	var failed error
	ended := make(chan struct{})
	go func() {
		report, failed = launcher.Run(config)
		close(ended)
	}()
	stalled, err := f.follow(c, ended)
	close(stop)
	<-ended
	if start := (*launcher.StartError)(nil); errors.As(failed, &start) {
		return cli.Exit(start.Code, failed)
	}
	if err := errors.Join(err, failed); err != nil {
		return cli.Exit(checkFailed, err)
	}
	return f.judge(v, c, report, stalled, said)
}

// follow compares while the job runs: to its end, to a difference, or until nothing has moved for
// too long.
func (f *checkFlags) follow(c *check.Comparison, ended <-chan struct{}) (stalled bool, err error) {
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
		more, err := c.Advance()
		switch {
		case err != nil:
			return false, err
		case more:
			moved = time.Now()
		case enough == nil && time.Since(moved) > f.patience:
			return true, nil
		}
		if enough == nil && c.Diverged() {
			enough = time.After(afterwards)
		}
	}
}

// procs returns the processes of a rank, by replica.
func (f *checkFlags) procs(rank int) []proto.Proc {
	procs := make([]proto.Proc, f.replicas)
	for k := range procs {
		procs[k] = proto.Proc(k*f.ranks + rank)
	}
	return procs
}

// judge adds the findings of a run that has ended.
func (f *checkFlags) judge(v *verdict, c *check.Comparison, report *launcher.Report, stalled bool, said *tail) error {
	if _, err := c.Advance(); err != nil {
		return cli.Exit(checkFailed, err)
	}
	s, err := c.Summary()
	if err != nil {
		return cli.Exit(checkFailed, err)
	}
	v.calls += s.Calls
	v.payloads.Add(s.Payloads)
	if v.payload == nil && s.Payload != nil {
		v.payload, v.payloadSeed = s.Payload, v.seed
	}
	switch {
	case len(s.Found) > 0:
		v.findings, v.code = s, checkDiverged
	case report.Outcome == launcher.OutcomeInterrupted && !stalled:
		return cli.Exit(report.ExitCode, nil) // by a signal
	case stalled:
		v.failure = fmt.Sprintf("no rank has sent anything for %v", f.patience)
	case report.ExitCode != 0:
		v.failure = fmt.Sprintf("the job ended with exit code %d", report.ExitCode)
		if report.Reason != "" {
			v.failure += ": " + report.Reason
		}
	case s.Calls == 0:
		v.failure = "no replicas have sent anything: does the program use the library?"
		if f.ranks == 1 {
			v.failure = "no replicas have sent anything: how many ranks are there to be (-n)?"
		}
	case s.Cut != nil:
		v.failure = fmt.Sprintf("the record of rank %d ends before its program does: is there room in %s?", s.Cut[0], os.TempDir())
	}
	if v.failure != "" {
		v.code, v.output = checkFailed, string(said.kept)
	}
	return nil
}
