package test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// C converts statuses of mpi_f08 and of the other modules, and knows what Fortran passes for
// MPI_STATUS_IGNORE. In a program that is all C nothing is that.
func TestFortranStatuses(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("needs gfortran")
	}
	object := filepath.Join(t.TempDir(), "statuses.o")
	if out, err := exec.Command(cprogram.Tool("mpicc"), "-Wall", "-Werror", "-c", "-o", object, cprogram.Source("fortran", "testdata", "statuses.c")).CombinedOutput(); err != nil {
		t.Fatalf("mpicc: %v\n%s", err, out)
	}
	for _, flags := range [][]string{nil, {"-no-pie", "-fno-pie"}} {
		program := cprogram.Build(t, "mpifort", cprogram.Source("fortran", "testdata", "statuses.f90"), append(flags, "-w", object, "-J", t.TempDir())...)
		if o := cprogram.Run(t, program); o.Code != 0 || strings.Join(strings.Fields(o.Stdout), " ") != "111 222 33 12 1 2 0 1 2 0" {
			t.Errorf("%v: %v", flags, o)
		}
	}
	o := cprogram.Run(t, cprogram.Compile(t, "fstatus"))
	if o.Fine(t); o.Stdout != "good\n" {
		t.Error(o)
	}
}

// A program without our header finds the conversions of handles and statuses by their names.
func TestConversionsByName(t *testing.T) {
	cprogram.Run(t, cprogram.Compile(t, "f2c")).Fine(t)
}
