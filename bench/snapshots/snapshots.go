// Package snapshots measures what banyan run --rollback costs: for how long a snapshot of much
// state holds a program up, how much of it is written and travels, and how long the way back takes.
//
// # Method
//
// A C program (programs/snapshots.c) has so many MiB of state in each rank. Each step changes some
// of its pages. The launcher takes snapshots and reports what each took. In the middle a rank is
// killed, and the job goes back. At the end each rank compares all its pages with what they should
// be.
//
// The first two snapshots of a job write all of the state, since there are two memories and both
// are empty. They are told apart from the others.
//
// # Invariants
//
//   - A job counts only if it has gone back once to a snapshot, and ends with the right state.
//   - Each wait has an end.
//
// # Limits
//
// Without hosts of its own (--host) no rank has a buddy, and nothing is copied.
package snapshots

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed programs/snapshots.c
var source []byte

// Bench is what all jobs have in common.
type Bench struct {
	Launcher string        // the command banyan
	Hosts    string        // as h0:2,h1:2; empty: this one
	Ranks    int           //
	Every    time.Duration // from one snapshot to the next
	Last     time.Duration // how long the program runs from its start
}

// State is how large each rank's state is, and how many percent of its pages a step changes.
type State struct{ MiB, Percent int }

// Snapshot is one that was committed, as the launcher reports it.
type Snapshot struct {
	Held    float64 `json:"held_s"`  // from when the first rank stood until all went on
	Stood   float64 `json:"stood_s"` // how long the slowest rank took to keep its part
	Took    float64 `json:"took_s"`  // until it was committed
	Bytes   int64   `json:"bytes"`   // of all ranks
	Changed int64   `json:"changed_bytes"`
	Copied  int64   `json:"copied_bytes"`
}

// Job is what one job has shown.
type Job struct {
	First, Later []Snapshot
	Again        float64 // seconds from the death until all processes were started again
	Back         float64 // and until all went on from a snapshot
}

// Build builds the program with an mpicc, in dir.
func Build(dir, mpicc string) (program string, err error) {
	program = filepath.Join(dir, "snapshots")
	if err := os.WriteFile(program+".c", source, 0o644); err != nil {
		return "", err
	}
	if out, err := exec.Command(mpicc, "-O2", "-o", program, program+".c").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", mpicc, err, out)
	}
	return program, nil
}

// Run runs a job of a program that Build has built.
func (b *Bench) Run(ctx context.Context, program string, s State) (*Job, error) {
	// The program runs for most of b.Last, goes back, and runs for b.Last once more.
	limit := 4*b.Last + 2*time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it has taken longer than %v", limit))
	defer cancel()
	report := program + "-report.json"
	args := []string{"run", "-n", strconv.Itoa(b.Ranks), "--rollback", "--snapshot-every", b.Every.String(), "--report", report,
		"--fault", fmt.Sprintf("kill rank=%d at=%v", b.Ranks-1, b.Last*3/4)}
	if b.Hosts != "" {
		args = append(args, "--host", b.Hosts)
	}
	args = slices.Concat(args, []string{program, strconv.Itoa(s.MiB), strconv.Itoa(s.Percent), strconv.FormatFloat(b.Last.Seconds(), 'f', -1, 64)})
	cmd := exec.CommandContext(ctx, b.Launcher, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the launcher cleans up then
	cmd.WaitDelay = 15 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%d MiB, %d percent: %w: %s", s.MiB, s.Percent, errors.Join(err, context.Cause(ctx)), strings.TrimSpace(stderr.String()))
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	j, err := read(text, int64(s.MiB)<<20*int64(b.Ranks))
	if err != nil {
		return nil, fmt.Errorf("%d MiB, %d percent: %w", s.MiB, s.Percent, err)
	}
	return j, nil
}

// fills is how many snapshots of a job write all of its state.
const fills = 2

// read takes a job's report. least is how much state there is.
func read(report []byte, least int64) (*Job, error) {
	var r struct {
		Snapshots []Snapshot
		Rollbacks []struct {
			Snapshot uint64
			Took     float64  `json:"took_s"`
			Restored *float64 `json:"restored_s"`
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return nil, err
	}
	switch {
	case len(r.Rollbacks) != 1 || r.Rollbacks[0].Snapshot == 0 || r.Rollbacks[0].Restored == nil:
		return nil, errors.New("the job hasn't gone back to a snapshot once: it should last longer (--last), or take them more often (--every)")
	case len(r.Snapshots) <= fills:
		return nil, fmt.Errorf("%d snapshots were taken: the job should last longer (--last)", len(r.Snapshots))
	}
	for _, s := range r.Snapshots {
		if s.Bytes < least || s.Changed > s.Bytes || s.Stood <= 0 || s.Held < s.Stood || s.Took < s.Held {
			return nil, fmt.Errorf("these figures can't be: %+v", s)
		}
	}
	b := r.Rollbacks[0]
	if b.Took <= 0 || b.Took > *b.Restored {
		return nil, fmt.Errorf("these figures can't be: started again after %v s, and on from the snapshot after %v s", b.Took, *b.Restored)
	}
	return &Job{First: r.Snapshots[:fills], Later: r.Snapshots[fills:], Again: b.Took, Back: *b.Restored}, nil
}
