package test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program that handles failures itself goes on when a rank dies in the middle of collectives
// through shared memory, or while another waits in a receive.
func TestULFM(t *testing.T) {
	program := compile(t, "ulfm")
	for _, how := range []string{"loop", "jumps"} {
		o := job(t, 4, program, how)
		if o.code != 0 || strings.Count(o.stdout, "goes on") != 3 || !strings.Contains(o.stderr, "the program goes on without it") {
			t.Errorf("%s: %v", how, o)
		}
		o.noTrace(t)
	}
}

// Fortran has the functions in the module mpi_ext.
func TestULFMFortran(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	program := build(t, "mpifort", filepath.Join("..", "..", "fortran", "testdata", "ulfm.f90"))
	if o := job(t, 3, program); o.code != 0 || strings.Count(o.stdout, "fine") != 3 {
		t.Error(o)
	}
}
