package test

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A C program sends messages whose parts threads make ready one by one, with replicas and without,
// in shared memory and over TCP.
func TestPartitioned(t *testing.T) {
	program := cprogram.Compile(t, "partitioned")
	for _, x := range [][]string{
		{"-n", "1"}, {"-n", "2"}, {"-n", "3", "--transport", "tcp"}, {"-n", "2", "--replicas", "2"}, {"-n", "2", "--replicas", "2", "--order", "leader"},
	} {
		if slices.Contains(x, "--replicas") {
			x = append(x, "--env", "REPLICATED=1")
		}
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run", "--timeout", "60"}, x...), program)...)
		if o.Code != 0 {
			t.Errorf("%v: %v", x, o)
		}
		o.NoTrace(t)
	}
}

// Replicas are killed between the parts of messages: all ranks receive what they receive
// undisturbed.
func TestPartitionedKills(t *testing.T) {
	program := cprogram.Compile(t, "partitioned")
	undisturbed := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", program, "loop")
	undisturbed.Fine(t)
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "60", "-n", "2", "--replicas", "2", "--env", "REPLICATED=1",
		"--fault", "kill rank=0 at=send:50; kill rank=1 replica=1 at=send:120", program, "loop")
	o.Fine(t)
	if cprogram.Sorted(o.Stdout) != cprogram.Sorted(undisturbed.Stdout) || strings.Count(o.Stderr, "died") < 2 && strings.Count(o.Stderr, "killed") < 2 {
		t.Errorf("%v\nundisturbed:\n%s", o, undisturbed.Stdout)
	}
}

// A sender dies when half of its message has left: the receiver gets errors, and ends.
func TestPartitionedDies(t *testing.T) {
	o := cprogram.Job(t, 2, cprogram.Compile(t, "partitioned"), "dies")
	if !strings.Contains(o.Stdout, "goes on") {
		t.Error(o)
	}
	o.NoTrace(t)
}

// Fortran 2008 has partitioned messages, too.
func TestPartitionedFortran(t *testing.T) {
	program := cprogram.Build(t, "mpifort", "../../fortran/testdata/partitioned.f90")
	if o := cprogram.Job(t, 2, program); o.Code != 0 || strings.Count(o.Stdout, "fine") != 2 {
		t.Error(o)
	}
}
