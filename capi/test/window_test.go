package test

import (
	"strings"
	"testing"
)

// The ranks of a host share memory by windows, and exclude each other by their locks.
func TestWindow(t *testing.T) {
	program := compile(t, "window")
	o := job(t, 4, program)
	o.fine(t)
	if o.stdout != "" {
		t.Errorf("%v", o)
	}
	run(t, program).fine(t)
	job(t, 2, program).fine(t)
}

// A program that asks which ranks share memory runs unchanged with replicas, where none do. One
// that doesn't ask is told.
func TestWindowReplicas(t *testing.T) {
	program := compile(t, "window")
	o := job(t, 4, program, "split")
	if o.fine(t); o.stdout != "4 of 4 ranks, sum 40\n" {
		t.Errorf("%v", o)
	}
	o = run(t, tool("banyan"), "run", "-n", "4", "--replicas", "2", program, "split")
	if o.fine(t); o.stdout != "1 of 4 ranks, sum 10\n" {
		t.Errorf("%v", o)
	}
	o = run(t, tool("banyan"), "run", "-n", "2", "--replicas", "2", program, "wide")
	if o.noTrace(t); o.code == 0 || !strings.Contains(o.stderr, ": in a job with replicas each replica of a rank has memory of its own, so ranks can't share any") {
		t.Errorf("%v", o)
	}
}

// A lock whose holder has died, or has left, is an error at all that want it, and nobody hangs.
func TestWindowHolder(t *testing.T) {
	program := compile(t, "window")
	run(t, tool("banyan"), "run", "-n", "4", program, "leaves").fine(t)
	o := run(t, tool("banyan"), "run", "-n", "4", program, "dies")
	if o.noTrace(t); strings.Contains(o.stderr, "not so") || !strings.Contains(o.stderr, "rank 1 ") {
		t.Errorf("%v", o)
	}
	o = run(t, tool("banyan"), "run", "-n", "3", program, "fatal")
	if o.noTrace(t); o.code != 137 || !strings.Contains(o.stderr, "rank 1 ") {
		t.Errorf("%v", o)
	}
}

// Mistakes name the window, and a job that hangs says for which lock.
func TestWindowMessages(t *testing.T) {
	program := compile(t, "window")
	o := job(t, 2, program, "mistake")
	if o.noTrace(t); o.code == 0 || !strings.Contains(o.stderr, "MPI_Win_lock on halo, rank ") || !strings.Contains(o.stderr, ": the rank is 9, and the window has 2 ranks (MPI_ERR_RANK)") {
		t.Errorf("%v", o)
	}
	o = run(t, tool("banyan"), "run", "-n", "2", "--timeout", "2", program, "hangs")
	if o.code != 124 || !strings.Contains(o.stderr, "waits in MPI_Win_lock for the lock of rank 0's part") {
		t.Errorf("%v", o)
	}
}
