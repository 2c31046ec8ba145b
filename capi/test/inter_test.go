package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A C program connects two groups of ranks, and does everything between them, with replicas and
// without, in shared memory and over TCP.
func TestInter(t *testing.T) {
	program := compile(t, "inter")
	for _, x := range [][]string{
		{"-n", "2"}, {"-n", "3"}, {"-n", "5"}, {"-n", "5", "--transport", "tcp"}, {"-n", "8"},
		{"-n", "3", "--replicas", "2"}, {"-n", "2", "--replicas", "3"}, {"-n", "3", "--replicas", "2", "--order", "leader"},
	} {
		if slices.Contains(x, "--replicas") {
			x = append(x, "--env", "REPLICATED=1")
		}
		o := run(t, tool("banyan"), append(append([]string{"run"}, x...), program)...)
		if o.code != 0 {
			t.Errorf("%v: %v", x, o)
		}
		o.noTrace(t)
	}
}

// Replicas are killed while groups are connected and collectives run between them: all ranks
// compute what they compute undisturbed.
func TestInterKills(t *testing.T) {
	program := compile(t, "inter")
	undisturbed := run(t, tool("banyan"), "run", "-n", "3", program, "loop")
	undisturbed.fine(t)
	for replicas, faults := range map[int]string{
		2: "kill rank=0 at=send:400; kill rank=2 replica=1 at=send:2000",
		3: "kill rank=1 replica=2 at=send:90; kill rank=0 at=send:1500; kill rank=0 replica=1 at=send:3000",
	} {
		o := run(t, tool("banyan"), "run", "-n", "3", "--replicas", fmt.Sprint(replicas), "--env", "REPLICATED=1", "--fault", faults, program, "loop")
		o.fine(t)
		if sorted(o.stdout) != sorted(undisturbed.stdout) || strings.Count(o.stderr, "died") < 2 && strings.Count(o.stderr, "killed") < 2 {
			t.Errorf("%d replicas: %v\nundisturbed:\n%s", replicas, o, undisturbed.stdout)
		}
	}
}

// A program that handles failures itself revokes, agrees and shrinks between groups.
func TestInterDies(t *testing.T) {
	o := job(t, 6, compile(t, "interlosses"), "dies")
	if o.code != 0 || strings.Count(o.stdout, "goes on") != 5 {
		t.Error(o)
	}
	o.noTrace(t)
}

// Replicas are replaced, and then their donors killed, while groups connect again and again over
// one peer communicator, and collectives run between them.
func TestInterHeals(t *testing.T) {
	program := compile(t, "interlosses")
	undisturbed := job(t, 3, program, "heals")
	undisturbed.fine(t)
	for _, rank := range []int{0, 2} { // each leads
		o := heal(t, rank, nil, program, "heals")
		if o.code != 0 || sorted(o.stdout) != sorted(undisturbed.stdout) {
			t.Errorf("rank %d: %v\nundisturbed:\n%s", rank, o, undisturbed.stdout)
		}
	}
}

// Fortran 2008 connects groups, too.
func TestInterFortran(t *testing.T) {
	program := build(t, "mpifort", "../../fortran/testdata/inter.f90")
	for _, n := range []int{2, 5} {
		if o := job(t, n, program); o.code != 0 || strings.TrimSpace(o.stdout) != "fine" {
			t.Error(o)
		}
	}
}
