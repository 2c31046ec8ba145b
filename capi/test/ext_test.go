package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

const (
	safepointLooked  = "arg arg arg type count buffer arg success count"
	safepointIgnored = "success success success success success success success success success"
)

// Any mpicc compiles a program with safe points. Its MPIX calls have an effect only under Banyan.
// Under another library of the standard ABI, which doesn't have these functions, they do nothing.
func TestSafepoints(t *testing.T) {
	const source = "testdata/safepoint.c"
	program := cprogram.Build(t, "mpicc", source, "-Wall", "-Wextra", "-Werror")
	for _, args := range [][]string{{"-n", "1"}, {"-n", "2", "--replicas", "2"}} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run"}, args...), program)...)
		for _, line := range strings.Split(strings.TrimSpace(o.Stdout), "\n") {
			if o.Code != 0 || strings.TrimSpace(line) != safepointLooked {
				t.Errorf("%v: %v", args, o)
			}
		}
	}
	cprogram.Build(t, "mpicxx", "testdata/safepoint.c", "-x", "c++", "-Wall", "-Werror")

	other := filepath.Join(t.TempDir(), "libmpi_abi.so.1")
	gcc := exec.Command("gcc", "-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.1", "-I", cprogram.Header(), "-o", other, "-x", "c", "-")
	gcc.Stdin = strings.NewReader(`#include <mpi.h>
int MPI_Init(int *argc, char ***argv) { return 0; }
int MPI_Finalize(void) { return 0; }
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler h) { return 0; }
int MPI_Type_vector(int n, int l, int s, MPI_Datatype t, MPI_Datatype *to) { return 0; }
int MPI_Type_commit(MPI_Datatype *t) { return 0; }
int MPI_Type_free(MPI_Datatype *t) { return 0; }
int MPI_Error_class(int code, int *class) { *class = code; return 0; }
`)
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o := cprogram.Run(t, "env", "LD_PRELOAD="+other, program)
	if o.Code != 0 || strings.TrimSpace(o.Stdout) != safepointIgnored {
		t.Errorf("with another library: %v", o)
	}

	// The header alone, as a program would carry it along.
	brought := t.TempDir()
	text, err := os.ReadFile(filepath.Join(cprogram.Header(), "mpi-ext.h"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(brought, "mpi-ext.h"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, peer := range []string{"openmpi", "mpich"} {
		mpicc, err := exec.LookPath("mpicc." + peer)
		if err != nil {
			continue // scripts/peers.sh installs it
		}
		out := filepath.Join(t.TempDir(), peer)
		if text, err := exec.Command(mpicc, "-Wall", "-Wextra", "-Werror", "-I", brought, "-o", out, source).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", mpicc, err, text)
			continue
		}
		// A program that is started alone is a job of one rank. Open MPI refuses to run as root
		// without these variables.
		o := cprogram.Run(t, "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", out)
		if o.Code != 0 || strings.TrimSpace(o.Stdout) != safepointIgnored {
			t.Errorf("%s: %v", peer, o)
		}
	}
}

func TestFortranSafepoints(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	const source = "../../fortran/testdata/safepoint.f90"
	program := cprogram.Build(t, "mpifort", source)
	if o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", program); o.Code != 0 || o.Stdout != "plate 6.0 F\nplate 6.0 F\n" {
		t.Error(o)
	}
	for _, peer := range []string{"openmpi", "mpich"} {
		mpicc, err := exec.LookPath("mpicc." + peer)
		mpifort, also := exec.LookPath("mpif90." + peer)
		if err != nil || also != nil {
			continue
		}
		brought := t.TempDir()
		for _, name := range []string{"mpi-ext.h", "mpif-ext.h", "mpi-ext.c"} {
			text, err := os.ReadFile(filepath.Join(cprogram.Header(), name))
			if err == nil {
				err = os.WriteFile(filepath.Join(brought, name), text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		object, out := filepath.Join(brought, "mpi-ext.o"), filepath.Join(brought, "program")
		if text, err := exec.Command(mpicc, "-c", "-o", object, filepath.Join(brought, "mpi-ext.c")).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", mpicc, err, text)
			continue
		}
		if text, err := exec.Command(mpifort, "-I", brought, "-o", out, source, object).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", mpifort, err, text)
			continue
		}
		o := cprogram.Run(t, "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", out)
		if o.Code != 0 || o.Stdout != "plate 6.0 T\n" {
			t.Errorf("%s: %v", peer, o)
		}
	}
}
