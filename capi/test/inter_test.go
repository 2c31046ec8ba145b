package test

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A C program connects two groups of ranks, and does everything between them, with replicas and
// without, in shared memory and over TCP.
func TestInter(t *testing.T) {
	program := cprogram.Compile(t, "inter")
	for _, x := range [][]string{
		{"-n", "2"}, {"-n", "3"}, {"-n", "5"}, {"-n", "5", "--transport", "tcp"}, {"-n", "8"},
		{"-n", "3", "--replicas", "2"}, {"-n", "2", "--replicas", "3"}, {"-n", "3", "--replicas", "2", "--order", "leader"},
	} {
		if slices.Contains(x, "--replicas") {
			x = append(x, "--env", "REPLICATED=1")
		}
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run"}, x...), program)...)
		if o.Code != 0 {
			t.Errorf("%v: %v", x, o)
		}
		o.NoTrace(t)
	}
}

// Fortran 2008 connects groups, too.
func TestInterFortran(t *testing.T) {
	program := cprogram.Build(t, "mpifort", "../../fortran/testdata/inter.f90")
	for _, n := range []int{2, 5} {
		if o := cprogram.Job(t, n, program); o.Code != 0 || strings.TrimSpace(o.Stdout) != "fine" {
			t.Error(o)
		}
	}
}
