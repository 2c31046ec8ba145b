package test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// banyan check finds what isn't send-deterministic in a C program, and names MPI's functions and
// the lines of the calls. It doesn't compare the gaps of derived datatypes, and doesn't fail a
// program for sums of times.
func TestCheck(t *testing.T) {
	program := cprogram.Compile(t, "replicas")
	for _, c := range []struct {
		name string
		code int
		says []string
		args []string
	}{
		{"farm", 0, []string{"no difference"}, []string{"--order", "leader"}},
		{"buckets", 0, []string{"no difference but of data", " of MPI_Alltoall, at replicas.c:", "of a call's 256 bytes (from 0) these differ: ",
			"memory that the program hasn't set", "--order leader,clock makes clocks"}, []string{"--order", "leader"}},
		{"farm", 1, []string{
			"rank 0: its replicas 0 and 1 differ in call", "in the destination", ": MPI_Send to rank ", ", 8 bytes, at replicas.c:",
			"most likely because of receive", "(any source)", "told by MPI_Recv, at replicas.c:", "run it with --order leader"}, nil},
		{"replies", 1, []string{"in the destination", "no wildcard", "told by MPI_Waitany, at replicas.c:"}, nil},
		{"alike", 0, []string{"no difference in what replicas send found in 2 runs"}, nil},
		{"timers", 0, []string{"no difference", "warning: in ", " of MPI_Reduce, at replicas.c:", "MPI_Reduce with root 0, 8 bytes"}, nil},
	} {
		t.Run(strings.Join(append(c.args, c.name), " "), func(t *testing.T) {
			t.Parallel()
			runs := "20"
			if c.code == 0 {
				runs = "2"
			}
			o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"check", "-n", "4", "--runs", runs}, c.args...), program, c.name)...)
			if o.Code != c.code {
				t.Fatalf("want code %d: %v", c.code, o)
			}
			for _, s := range c.says {
				if !strings.Contains(o.Stdout, s) {
					t.Errorf("it doesn't say %q: %v", s, o)
				}
			}
			if c.name == "alike" && strings.Contains(o.Stdout, "warning") {
				t.Error(o)
			}
		})
	}
}

// Memory that a program sends and has never set differs in replicas for good: --verify ends the
// job, in whatever order, and says how to find the call.
func TestVerifyFindsUnsetMemory(t *testing.T) {
	program := cprogram.Compile(t, "replicas")
	for order, advice := range map[string]string{
		"free":         "banyan check shows calls and bytes that differ",
		"leader":       "banyan check --order leader shows calls and bytes that differ",
		"leader,clock": "banyan check --order leader,clock shows calls and bytes that differ",
	} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--replicas", "2", "--order", order, "--verify", program, "buckets")
		if o.Code != 125 || !strings.Contains(o.Stderr, "silent corruption") || !strings.Contains(o.Stderr, advice) {
			t.Errorf("--order %s: want code 125 and %q: %v", order, advice, o)
		}
	}
}

// For a program without line numbers banyan check names the function, for one without symbols the
// address.
func TestCheckWithoutLines(t *testing.T) {
	program := cprogram.Compile(t, "replicas")
	for strip, want := range map[string]string{
		"--strip-debug": " in stripped--strip-debug (-g when compiling gives lines)\n",
		"--strip-all":   ", at stripped--strip-all+0x",
	} {
		stripped := filepath.Join(t.TempDir(), "stripped"+strip)
		if text, err := exec.Command("objcopy", strip, program, stripped).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if o := cprogram.Run(t, cprogram.Tool("banyan"), "check", "-n", "4", "--runs", "2", stripped, "timers"); o.Code != 0 || !strings.Contains(o.Stdout, want) {
			t.Errorf("it doesn't say %q: %v", want, o)
		}
	}
}

// Calls in main have lines in programs that the compiler has optimised, too. Programs without lines
// have names that people can read, and the advice how to get lines.
func TestCheckOptimised(t *testing.T) {
	for _, c := range []struct{ compiler, source, flag, says string }{
		{"mpicc", "lines.c", "-g", " of MPI_Allreduce, at lines.c:9\n"},
		{"mpicc", "lines.c", "-g0", " of MPI_Allreduce, at main in program (-g when compiling gives lines)\n"},
		{"mpicxx", "names.cc", "-g", " of MPI_Allreduce, at names.cc:15\n"},
		{"mpicxx", "names.cc", "-g0", " of MPI_Allreduce, at clocks::Sum<double>::add in program (-g when compiling gives lines)\n"},
	} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "check", "-n", "2", "--runs", "1", cprogram.Build(t, c.compiler, filepath.Join("testdata", c.source), "-O2", c.flag))
		if o.Code != 0 || !strings.Contains(o.Stdout, c.says) {
			t.Errorf("it doesn't say %q: %v", c.says, o)
		}
	}
}

// Where data differs, later runs look at the bytes, and tell padding of structs from data.
func TestCheckPadding(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "check", "-n", "2", "--runs", "3", cprogram.Build(t, "mpicc", "testdata/padding.c", "-O2", "-g"))
	for _, s := range []string{
		" of MPI_Bcast, at padding.c:28\n          of a call's 128 bytes (from 0) these differ: ",
		": all of it is padding of struct particle (32 bytes), which holds what was in memory before: no data of the program's\n",
		" of MPI_Allreduce, at padding.c:30\n          of a call's 24 bytes (from 0) these differ: 16",
	} {
		if o.Code != 0 || !strings.Contains(o.Stdout, s) {
			t.Errorf("it doesn't say %q: %v", s, o)
		}
	}
	if strings.Count(o.Stdout, "padding of struct") != 1 {
		t.Error(o)
	}
}

// A Fortran program calls MPI through the library of the Fortran bindings. banyan check names the
// lines of the program, not of that library.
func TestCheckFortran(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	o := cprogram.Run(t, cprogram.Tool("banyan"), "check", "-n", "4", "--runs", "20", cprogram.Build(t, "mpifort", "../../fortran/testdata/farm.f90", "-g"))
	for _, s := range []string{"MPI_Send to rank ", ", tag 2, 4 bytes, at farm.f90:13\n", "told by MPI_Recv, at farm.f90:12\n"} {
		if o.Code != 1 || !strings.Contains(o.Stdout, s) {
			t.Errorf("it doesn't say %q: %v", s, o)
		}
	}
}
