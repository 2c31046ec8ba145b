package test

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// Files are opened, read and written alone and together, by all pointers and in all forms.
func TestFiles(t *testing.T) {
	for _, name := range filePrograms {
		program := cprogram.Compile(t, name)
		for _, n := range []int{1, 2, 4} {
			o := cprogram.Job(t, n, program, t.TempDir())
			if o.Fine(t); o.Stdout != "" || o.Stderr != "" {
				t.Errorf("%s, %d ranks: %v", name, n, o)
			}
		}
		cprogram.Run(t, program, t.TempDir()).Fine(t)
	}
}

var filePrograms = []string{"fileaccess", "fileshared", "filetypes", "filemodes"}

// The same in jobs with replicas: one of each rank reads and writes.
func TestFilesReplicas(t *testing.T) {
	for _, job := range [][]string{{"-n", "1", "--replicas", "2"}, {"-n", "2", "--replicas", "2"}, {"-n", "2", "--replicas", "3", "--order", "leader"}} {
		for _, name := range filePrograms {
			o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run", "--verify"}, job...), cprogram.Compile(t, name), t.TempDir(), "replicas")...)
			if o.Fine(t); o.Stdout != "" || o.Stderr != "" {
				t.Errorf("%s, %v: %v", name, job, o)
			}
		}
	}
}

// A message names the function, the file, the rank, the value and the class.
func TestFilesMessages(t *testing.T) {
	program := cprogram.Compile(t, "filemodes")
	o := cprogram.Job(t, 1, program, t.TempDir(), "fatal")
	if o.NoTrace(t); o.Code == 0 || !strings.Contains(o.Stderr, "MPI_File_seek on /") ||
		!strings.Contains(o.Stderr, "/fatal, rank 0: invalid view: the pointer would be at -7 (MPI_ERR_ARG)") {
		t.Errorf("%v", o)
	}
}

// Fortran programs have files, too, and representations of their own.
func TestFilesFortran(t *testing.T) {
	program := cprogram.Build(t, "mpifort", "../../fortran/testdata/files.f90")
	for _, n := range []int{1, 3} {
		cprogram.Job(t, n, program, t.TempDir()).Fine(t)
	}
}

// Replicas that name different files have diverged: the job ends with an error that says so in each
// call that names a file, and doesn't hang.
func TestFilesNamesDiffer(t *testing.T) {
	program := cprogram.Compile(t, "filenames")
	for _, job := range [][]string{{"--replicas", "2"}, {"--replicas", "3"}, {"--replicas", "2", "--order", "leader"}} {
		for _, call := range []string{"together", "alone", "delete"} {
			o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run", "--timeout", "40", "-n", "2"}, job...), program, call, t.TempDir())...)
			if o.Code != 1 || !strings.Contains(o.Stderr, "replicas of a rank name different files") || strings.Contains(o.Stdout, "goes on") {
				t.Errorf("%s, %v: %v", call, job, o)
			}
		}
	}
}
