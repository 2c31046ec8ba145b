package test

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// The ranks of a host share memory by windows, and exclude each other by their locks.
func TestWindow(t *testing.T) {
	program := cprogram.Compile(t, "window")
	o := cprogram.Job(t, 4, program)
	o.Fine(t)
	if o.Stdout != "" {
		t.Errorf("%v", o)
	}
	cprogram.Run(t, program).Fine(t)
	cprogram.Job(t, 2, program).Fine(t)
}

// A program that asks which ranks share memory runs unchanged with replicas, where none do. One
// that doesn't ask is told.
func TestWindowReplicas(t *testing.T) {
	program := cprogram.Compile(t, "window")
	o := cprogram.Job(t, 4, program, "split")
	if o.Fine(t); o.Stdout != "4 of 4 ranks, sum 40\n" {
		t.Errorf("%v", o)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--replicas", "2", program, "split")
	if o.Fine(t); o.Stdout != "1 of 4 ranks, sum 10\n" {
		t.Errorf("%v", o)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", program, "wide")
	if o.NoTrace(t); o.Code == 0 || !strings.Contains(o.Stderr, ": in a job with replicas each replica of a rank has memory of its own, so ranks can't share any") {
		t.Errorf("%v", o)
	}
}

// A lock whose holder has died, or has left, is an error at all that want it, and nobody hangs.
func TestWindowHolder(t *testing.T) {
	program := cprogram.Compile(t, "window")
	cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", program, "leaves").Fine(t)
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", program, "dies")
	if o.NoTrace(t); strings.Contains(o.Stderr, "not so") || !strings.Contains(o.Stderr, "rank 1 ") {
		t.Errorf("%v", o)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", program, "fatal")
	if o.NoTrace(t); o.Code != 137 || !strings.Contains(o.Stderr, "rank 1 ") {
		t.Errorf("%v", o)
	}
}

// Mistakes name the window, and a job that hangs says for which lock.
func TestWindowMessages(t *testing.T) {
	program := cprogram.Compile(t, "window")
	o := cprogram.Job(t, 2, program, "mistake")
	if o.NoTrace(t); o.Code == 0 || !strings.Contains(o.Stderr, "MPI_Win_lock on halo, rank ") || !strings.Contains(o.Stderr, ": the rank is 9, and the window has 2 ranks (MPI_ERR_RANK)") {
		t.Errorf("%v", o)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--timeout", "2", program, "hangs")
	if o.Code != 124 || !strings.Contains(o.Stderr, "waits in MPI_Win_lock for the lock of rank 0's part") {
		t.Errorf("%v", o)
	}
}
