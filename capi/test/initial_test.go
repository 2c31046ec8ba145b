package test

import (
	"strings"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/testing/cprogram"
)

// The error handler with which a program starts is the one that mpiexec's user names, as the
// standard wants: on MPI_COMM_WORLD, MPI_COMM_SELF and what comes from them. A death is an error
// like others.
func TestInitialErrhandler(t *testing.T) {
	program := cprogram.Compile(t, "initial")
	for _, x := range []struct {
		command, handler, how string
		code                  int
		stdout, stderr        string
	}{
		{"mpiexec", "", "handlers", 0, "rank 0: fatal fatal fatal -\n", ""},
		{"mpiexec", "mpi_errors_are_fatal", "handlers", 0, "rank 0: fatal fatal fatal mpi_errors_are_fatal\n", ""},
		{"mpiexec", "mpi_errors_abort", "handlers", 0, "rank 0: abort abort abort mpi_errors_abort\n", ""},
		{"mpiexec", "mpi_errors_return", "handlers", 0, "rank 1: return return return mpi_errors_return\n", ""},
		{"banyan", "mpi_errors_return", "error", 0, "rank 1: wrong rank\n", ""},
		{"banyan", "mpi_errors_return", "death", 0, "rank 0: loss\n", "the program goes on without it"},
		{"banyan", "mpi_errors_are_fatal", "death", 137, "", "rank 1"},
		{"banyan", "mpi_errors_abort", "error", 1, "", "(MPI_ERR_RANK)"},
		{"banyan", "MPI_ERRORS_RETURN", "error", 2, "", "there are mpi_errors_are_fatal, mpi_errors_abort and mpi_errors_return"},
	} {
		args := []string{"-n", "2"}
		if x.handler != "" {
			dash := map[string]string{"mpiexec": "-", "banyan": "--"}[x.command] // the standard's has one
			args = append(args, dash+"initial-errhandler", x.handler)
		}
		if x.command == "banyan" {
			args = append([]string{"run"}, args...)
		}
		o := cprogram.Run(t, cprogram.Tool(x.command), append(args, program, x.how)...)
		if o.Code != x.code || !strings.Contains(o.Stdout, x.stdout) || !strings.Contains(o.Stderr, x.stderr) {
			t.Errorf("%s -initial-errhandler %q, %s: %v", x.command, x.handler, x.how, o)
		}
		o.NoTrace(t)
	}
	t.Setenv(env.InitialErrhandler, "return")
	if o := cprogram.Job(t, 1, program, "handlers"); o.Code == 0 || !strings.Contains(o.Stderr, `"return" is no error handler`) {
		t.Errorf("a wrong variable: %v", o)
	}
}
