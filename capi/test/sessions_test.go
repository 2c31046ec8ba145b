package test

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A C program uses sessions in place of MPI_Init, or beside it, with replicas and without.
func TestSessions(t *testing.T) {
	program := cprogram.Compile(t, "sessions")
	for _, x := range [][]string{{"-n", "1", program}, {"-n", "3", program}, {"-n", "3", program, "world"}, {"-n", "2", "--replicas", "2", program},
		{"-n", "2", "--replicas", "2", "--fault", "kill rank=0 at=send:10", program}} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), append([]string{"run", "--timeout", "60"}, x...)...)
		if o.Code != 0 || strings.Count(o.Stdout, "is through") != int(x[1][0]-'0') {
			t.Errorf("%v: %v", x, o)
		}
		o.NoTrace(t)
	}
	if o := cprogram.Run(t, program); o.Code != 0 { // without a launcher
		t.Error(o)
	}
}

// A rank that exits with an open session has died.
func TestSessionOpen(t *testing.T) {
	o := cprogram.Job(t, 2, cprogram.Compile(t, "sessions"), "open")
	if o.Code == 0 || !strings.Contains(o.Stderr, "rank 0") {
		t.Error(o)
	}
	o.NoTrace(t)
}

// A process whose only session wasn't opened leaves the job nevertheless.
func TestSessionRefused(t *testing.T) {
	cprogram.Job(t, 2, cprogram.Compile(t, "sessions"), "refused").Fine(t)
}

// A rank that exits in a signal handler, in the middle of a function of MPI, ends with its code.
func TestSessionAlarmed(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--timeout", "30", cprogram.Compile(t, "sessions"), "alarmed")
	if o.Code == 0 || !strings.Contains(o.Stderr, "rank 0 ") || !strings.Contains(o.Stderr, "died: exit 3") {
		t.Error(o)
	}
	o.NoTrace(t)
}
