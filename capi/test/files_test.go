package test

import (
	"strings"
	"testing"
)

// Files are opened, read and written alone and together, by all pointers and in all forms.
func TestFiles(t *testing.T) {
	program := compile(t, "files")
	for _, n := range []int{1, 2, 4} {
		o := job(t, n, program, t.TempDir())
		if o.fine(t); o.stdout != "" || o.stderr != "" {
			t.Errorf("%d ranks: %v", n, o)
		}
	}
	run(t, program, t.TempDir()).fine(t)
}

// A job with replicas is told that it can't open files, and ends by default: two replicas that
// write one file would spoil it.
func TestFilesReplicas(t *testing.T) {
	program := compile(t, "files")
	o := run(t, tool("banyan"), "run", "-n", "2", "--replicas", "2", program, t.TempDir(), "open")
	if o.noTrace(t); o.code == 0 || strings.Contains(o.stdout, "returned") ||
		!strings.Contains(o.stderr, "in a job with replicas each replica of a rank would write the file") {
		t.Errorf("%v", o)
	}
}

// A message names the function, the file, the rank, the value and the class.
func TestFilesMessages(t *testing.T) {
	program := compile(t, "files")
	o := job(t, 1, program, t.TempDir(), "fatal")
	if o.noTrace(t); o.code == 0 || !strings.Contains(o.stderr, "MPI_File_seek on /") ||
		!strings.Contains(o.stderr, "/fatal, rank 0: invalid view: the pointer would be at -7 (MPI_ERR_ARG)") {
		t.Errorf("%v", o)
	}
}

// Fortran programs have files, too, and representations of their own.
func TestFilesFortran(t *testing.T) {
	program := build(t, "mpifort", "../../fortran/testdata/files.f90")
	for _, n := range []int{1, 3} {
		job(t, n, program, t.TempDir()).fine(t)
	}
}
