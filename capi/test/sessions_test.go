package test

import (
	"strings"
	"testing"
)

// A C program uses sessions in place of MPI_Init, or beside it, with replicas and without.
func TestSessions(t *testing.T) {
	program := compile(t, "sessions")
	for _, x := range [][]string{{"-n", "1", program}, {"-n", "3", program}, {"-n", "3", program, "world"}, {"-n", "2", "--replicas", "2", program},
		{"-n", "2", "--replicas", "2", "--fault", "kill rank=0 at=send:10", program}} {
		o := run(t, tool("banyan"), append([]string{"run", "--timeout", "60"}, x...)...)
		if o.code != 0 || strings.Count(o.stdout, "is through") != int(x[1][0]-'0') {
			t.Errorf("%v: %v", x, o)
		}
		o.noTrace(t)
	}
	if o := run(t, program); o.code != 0 { // without a launcher
		t.Error(o)
	}
}

// A rank that exits with an open session has died.
func TestSessionOpen(t *testing.T) {
	o := job(t, 2, compile(t, "sessions"), "open")
	if o.code == 0 || !strings.Contains(o.stderr, "rank 0") {
		t.Error(o)
	}
	o.noTrace(t)
}

// A process whose only session wasn't opened leaves the job nevertheless.
func TestSessionRefused(t *testing.T) {
	job(t, 2, compile(t, "sessions"), "refused").fine(t)
}

// A rank that exits in a signal handler, in the middle of a function of MPI, ends with its code.
func TestSessionAlarmed(t *testing.T) {
	o := run(t, tool("banyan"), "run", "-n", "2", "--timeout", "30", compile(t, "sessions"), "alarmed")
	if o.code == 0 || !strings.Contains(o.stderr, "rank 0 ") || !strings.Contains(o.stderr, "died: exit 3") {
		t.Error(o)
	}
	o.noTrace(t)
}
