// Package failover measures how long a program on several hosts stands still when a host is lost:
// the time of the goals, as the program sees it.
//
// # Method
//
// A job with two replicas of each rank adds up a number of all ranks again and again, a millisecond
// apart (programs/failover.c). Each process measures the longest time from one sum to the next. In
// the middle a command has a host be lost. No clocks are compared, so the hosts may be real ones.
// The gap of a job is the longest that a process of another host saw after the beginning; the
// longest in the first 500 steps is beside it, and tells what the machines do by themselves.
//
// # Invariants
//
//   - A job counts only if all of its sums are right, the loss was done before its end, and no
//     process of the lost host has come to the end.
//   - Each wait has an end.
//
// # Limits
//
// The gap has the pause of a millisecond in it. A gap that has nothing to do with the loss counts
// if it is longer: on busy machines the figure is an upper bound.
package failover

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed programs/failover.c
var source []byte

const (
	replicas = 2
	// Limit ends a job that doesn't end.
	limit = 2 * time.Minute
	// Least is the number of steps with which a job still takes longer than a loss.
	Least = 1000
)

// Bench is what jobs of the measurement have in common.
type Bench struct {
	Launcher []string // banyan run
	Program  string   // that Build has built
	Dir      string   // which all hosts share
	Hosts    string   // as h0:2,h1:2
	Ranks    int
	Steps    int
	Timeout  time.Duration // the heartbeat timeout, δ
	Victim   string        // the host that is lost
}

// Gaps are the longest that the processes of one job waited for a sum, before a host was lost and
// from then on.
type Gaps struct{ Before, After time.Duration }

// Build builds the program with a compiler, in dir.
func Build(dir, cc string) (program string, err error) {
	program = filepath.Join(dir, "failover")
	if err := os.WriteFile(program+".c", source, 0o644); err != nil {
		return "", err
	}
	if out, err := exec.Command(cc, "-O2", "-o", program, program+".c").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cc, err, out)
	}
	return program, nil
}

// Run runs one job, in which a host is lost as the command says.
func (b *Bench) Run(ctx context.Context, loss Loss) (g Gaps, err error) {
	dir, err := os.MkdirTemp(b.Dir, "job-")
	if err != nil {
		return g, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it has taken longer than %v", limit))
	defer cancel()
	j, err := b.start(ctx, dir)
	if err != nil {
		return g, err
	}
	err = b.lose(ctx, j, dir, loss)
	if ended := j.wait(err != nil); ended != nil {
		// What the launcher says explains why nothing could be lost.
		return g, errors.Join(ended, err, context.Cause(ctx))
	}
	if err != nil {
		return g, err
	}
	if got := strings.TrimSpace(j.stdout.String()); got != strconv.Itoa(b.Steps) {
		return g, fmt.Errorf("%.100q sums were right, of %d", got, b.Steps)
	}
	return b.gaps(dir)
}

// lose waits until all processes have begun, and has the host be lost.
func (b *Bench) lose(ctx context.Context, j *job, dir string, loss Loss) error {
	var at []told
	for {
		over := j.over()
		var err error
		if at, err = read(dir, "at"); err != nil {
			return err
		}
		if len(at) == b.Ranks*replicas {
			break
		}
		if over {
			return errors.New("the job has ended before all of its processes had begun")
		}
		time.Sleep(2 * time.Millisecond)
	}
	command, err := loss.command(b.Victim, at)
	if err != nil {
		return err
	}
	if err := shell(ctx, command); err != nil {
		return err
	}
	if j.over() {
		return fmt.Errorf("the job had ended when the loss was done: %d steps are too few (--steps)", b.Steps)
	}
	return nil
}

// gaps reads what the processes tell that have come to the end.
func (b *Bench) gaps(dir string) (g Gaps, err error) {
	all, err := read(dir, "gap")
	if err != nil {
		return g, err
	}
	for _, t := range all {
		if same(t.host, b.Victim) {
			return g, fmt.Errorf("the loss of %s had no effect: a process there has come to the end", b.Victim)
		}
		g.Before, g.After = max(g.Before, time.Duration(t.a)), max(g.After, time.Duration(t.b))
	}
	if len(all) < b.Ranks {
		return g, fmt.Errorf("%d processes tell their times, of %d ranks", len(all), b.Ranks)
	}
	return g, nil
}

// told is a file of a process: its host and two numbers.
type told struct {
	host string
	a, b int64
}

// read reads the files of a kind.
func read(dir, kind string) (all []told, err error) {
	files, err := filepath.Glob(filepath.Join(dir, kind+"-*"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var t told
		if n, err := fmt.Sscan(string(text), &t.host, &t.a, &t.b); n != 3 {
			return nil, fmt.Errorf("%s says %.100q: %w", name, text, err)
		}
		all = append(all, t)
	}
	return all, nil
}
