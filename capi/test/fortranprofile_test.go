package test

import (
	"os/exec"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A program has procedures of mpi_f08 of its own, and counts calls with them.
func TestFortranProfiling(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("needs gfortran")
	}
	program := cprogram.Build(t, "mpifort", cprogram.Source("fortran", "testdata", "profile08.f90"), "-w", "-J", t.TempDir())
	if o := cprogram.Run(t, program); o.Code != 0 || strings.Join(strings.Fields(o.Stdout), " ") != "1 1 2 4 6" {
		t.Error(o)
	}
}
