// Package ulfm measures what programs pay that handle failures themselves: agreements, shrinks,
// revocations, and how soon survivors know of a death. One C program (programs/ulfm.c) is built
// by the compiler of each library that has ULFM.
//
// # Method
//
// A job without deaths runs blocks of barriers, agreements and shrinks in turn, on the world, and
// after each block one revocation that ends an allreduce in which all others have waited for 20
// ms. The ratio to a barrier is taken within a block, since a machine's speed changes from minute
// to minute. A job with a death kills its last rank, of which the others have heard nothing for
// 20 ms: they wait in their first agreement, or in a receive from that rank. What counts is the
// last of them, from the moment before the kill, by the clock of the host.
//
// # Invariants
//
//   - A job counts only if each flag, error class and size is what ULFM says.
//   - Each wait has an end.
//
// # Limits
//
// One host. With more processes than cores the scheduler is measured as well, for barriers as for
// agreements. A killed rank is known when the launcher or the kernel says so: silence is measured
// by "banyan bench failover".
package ulfm

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"banyan/bench/peers"
)

//go:embed programs/ulfm.c
var source []byte

// limit ends a job that doesn't end.
const limit = 2 * time.Minute

// Block is what a block of a job without deaths took, in nanoseconds of one operation.
type Block struct{ Barrier, Agree, Shrink, Revoke float64 }

// Death says which wait of the survivors a killed rank ends.
type Death string

// Waits of the survivors.
const (
	Agree Death = "agree" // in their first agreement
	Known Death = "known" // in a receive from the rank
)

// ErrNone says that a library has no ULFM.
var ErrNone = errors.New("it has no ULFM")

// Build builds the program with the compiler of a library, in dir. The error is ErrNone if the
// library's header has no such functions.
func Build(dir string, l peers.Library) (program string, err error) {
	probe := exec.Command(l.CC, "-E", "-")
	probe.Stdin = strings.NewReader("#include <mpi.h>\n#include <mpi-ext.h>\n#ifndef MPIX_ERR_PROC_FAILED\n#error none\n#endif\n")
	if probe.Run() != nil {
		return "", ErrNone
	}
	program = filepath.Join(dir, "ulfm-"+l.Name)
	if err := os.WriteFile(program+".c", source, 0o644); err != nil {
		return "", err
	}
	if out, err := exec.Command(l.CC, "-O2", "-o", program, program+".c").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", l.CC, err, out)
	}
	return program, nil
}

// Steady runs a job without deaths, of a program that Build has built.
func Steady(ctx context.Context, l peers.Library, program string, procs, blocks, operations int) ([]Block, error) {
	out, err := run(ctx, l, program, procs, "steady", blocks, operations)
	if err != nil {
		return nil, err
	}
	var all []Block
	for line := range strings.Lines(out) {
		var b Block
		if n, err := fmt.Sscan(line, &b.Barrier, &b.Agree, &b.Shrink, &b.Revoke); n != 4 || min(b.Barrier, b.Agree, b.Shrink) <= 0 {
			return nil, fmt.Errorf("%s, %d processes: the program printed %.100q: %w", l.Name, procs, line, errors.Join(err, errFigures))
		}
		all = append(all, b)
	}
	if len(all) != blocks {
		return nil, fmt.Errorf("%s, %d processes: the program printed %d lines of %d", l.Name, procs, len(all), blocks)
	}
	return all, nil
}

// Kill runs a job in which the last rank is killed, and returns how long the others waited for it
// from then on, in nanoseconds.
func Kill(ctx context.Context, l peers.Library, program string, procs int, of Death) (float64, error) {
	out, err := run(ctx, l, program, procs, string(of), 0, 0)
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
	if err != nil || ns <= 0 {
		return 0, fmt.Errorf("%s, %d processes: the program printed %.100q: %w", l.Name, procs, out, errors.Join(err, errFigures))
	}
	return ns, nil
}

var errFigures = errors.New("these figures can't be")

func run(ctx context.Context, l peers.Library, program string, procs int, of string, blocks, operations int) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it has taken longer than %v", limit))
	defer cancel()
	moment := program + ".killed"
	if err := os.WriteFile(moment, make([]byte, 8), 0o644); err != nil {
		return "", err
	}
	args := slices.Concat(l.Exec[1:], []string{strconv.Itoa(procs)}, l.Survive,
		[]string{program, of, moment, strconv.Itoa(blocks), strconv.Itoa(operations)})
	cmd := exec.CommandContext(ctx, l.Exec[0], args...)
	cmd.Env = append(os.Environ(), l.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // launchers clean up then
	cmd.WaitDelay = 5 * time.Second
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	// A launcher may count the killed rank as a failure of the job: what rank 0 has printed says
	// that the others came to the end.
	if err := cmd.Run(); err != nil && (of == "steady" || out.Len() == 0 || ctx.Err() != nil) {
		return "", fmt.Errorf("%s, %d processes, %s: %w: %s", l.Name, procs, of, errors.Join(err, context.Cause(ctx)), strings.TrimSpace(stderr.String()))
	}
	return out.String(), nil
}
