package test

import (
	"slices"
	"strings"
	"testing"
)

// A C program sends messages whose parts threads make ready one by one, with replicas and without,
// in shared memory and over TCP.
func TestPartitioned(t *testing.T) {
	program := compile(t, "partitioned")
	for _, x := range [][]string{
		{"-n", "1"}, {"-n", "2"}, {"-n", "3", "--transport", "tcp"}, {"-n", "2", "--replicas", "2"}, {"-n", "2", "--replicas", "2", "--order", "leader"},
	} {
		if slices.Contains(x, "--replicas") {
			x = append(x, "--env", "REPLICATED=1")
		}
		o := run(t, tool("banyan"), append(append([]string{"run", "--timeout", "60"}, x...), program)...)
		if o.code != 0 {
			t.Errorf("%v: %v", x, o)
		}
		o.noTrace(t)
	}
}

// Replicas are killed between the parts of messages: all ranks receive what they receive
// undisturbed.
func TestPartitionedKills(t *testing.T) {
	program := compile(t, "partitioned")
	undisturbed := run(t, tool("banyan"), "run", "-n", "2", program, "loop")
	undisturbed.fine(t)
	o := run(t, tool("banyan"), "run", "--timeout", "60", "-n", "2", "--replicas", "2", "--env", "REPLICATED=1",
		"--fault", "kill rank=0 at=send:50; kill rank=1 replica=1 at=send:120", program, "loop")
	o.fine(t)
	if sorted(o.stdout) != sorted(undisturbed.stdout) || strings.Count(o.stderr, "died") < 2 && strings.Count(o.stderr, "killed") < 2 {
		t.Errorf("%v\nundisturbed:\n%s", o, undisturbed.stdout)
	}
}

// A sender dies when half of its message has left: the receiver gets errors, and ends.
func TestPartitionedDies(t *testing.T) {
	o := job(t, 2, compile(t, "partitioned"), "dies")
	if !strings.Contains(o.stdout, "goes on") {
		t.Error(o)
	}
	o.noTrace(t)
}

// Fortran 2008 has partitioned messages, too.
func TestPartitionedFortran(t *testing.T) {
	program := build(t, "mpifort", "../../fortran/testdata/partitioned.f90")
	if o := job(t, 2, program); o.code != 0 || strings.Count(o.stdout, "fine") != 2 {
		t.Error(o)
	}
}
