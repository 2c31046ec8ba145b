package test

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"banyan/internal/job/env"
)

// tool is the path of an installed command.
func tool(name string) string { return filepath.Join(dir, "bin", name) }

// build compiles a program with one of the wrappers.
func build(t *testing.T, wrapper, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(tool(wrapper), append([]string{"-o", program, source}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", wrapper, source, err, out)
	}
	return program
}

// "banyan bench startup" works with the installed files.
func TestBenchStartup(t *testing.T) {
	o := run(t, tool("banyan"), "bench", "startup", "--procs", "1,3", "--rounds", "1", "--format", "csv")
	if o.code != 0 || !strings.Contains(o.stdout, "\nbanyan,1,") || !strings.Contains(o.stdout, "\nbanyan,3,") {
		t.Error(o)
	}
}

// "banyan bench mpi" measures each kind of row.
func TestBenchMPI(t *testing.T) {
	o := run(t, tool("banyan"), "bench", "mpi", "--library", "banyan", "--kind", "vector-stream,indexed-stream,struct-stream,rate,posted,unexpected,threads", "--rounds", "1", "--format", "csv")
	if o.code != 0 {
		t.Fatal(o)
	}
	for _, row := range []string{"vector-stream,16384,2", "indexed-stream,1024,2", "struct-stream,1024,2", "rate,8,2", "posted,8,2", "unexpected,8,2", "threads-2,8,2", "threads-4,8,2"} {
		if !regexp.MustCompile(`\n` + row + `,auto,\d`).MatchString(o.stdout) {
			t.Errorf("no row %s:\n%s", row, o.stdout)
		}
	}
}

// "banyan bench mpi --program" runs a program that was built for each library that is installed.
func TestBenchProgram(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"../../examples/heat/heat.c", "../../abi/mpi-ext.h"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	libraries := []string{"banyan"}
	for name, wrapper := range map[string]string{"banyan": tool("mpicc"), "openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"} {
		if _, err := exec.LookPath(wrapper); err != nil {
			continue
		}
		if name != "banyan" {
			libraries = append(libraries, name)
		}
		if out, err := exec.Command(wrapper, "-O2", "-o", filepath.Join(dir, "heat-"+name), filepath.Join(dir, "heat.c"), "-lm").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", wrapper, err, out)
		}
	}
	program := filepath.Join(dir, "heat-{lib}") + " 20"
	o := run(t, tool("banyan"), "bench", "mpi", "--program", program, "--procs", "1,2", "--rounds", "2", "--format", "csv")
	if o.code != 0 || !strings.Contains(o.stdout, "\n"+program+",1,") || !strings.Contains(o.stdout, "\n"+program+",2,") {
		t.Error(o)
	}
	for _, name := range libraries {
		if !strings.Contains(o.stdout, ","+name+"_s,") {
			t.Errorf("no times of %s:\n%s", name, o.stdout)
		}
	}
	o = run(t, tool("banyan"), "bench", "mpi", "--library", "banyan", "--program", filepath.Join(dir, "heat-{lib}")+" nonsense", "--rounds", "1")
	if o.code == 0 || !strings.Contains(o.stderr, "banyan, "+dir) {
		t.Error(o)
	}
	if err := os.Remove(filepath.Join(dir, "heat-banyan")); err != nil {
		t.Fatal(err)
	}
	o = run(t, tool("banyan"), "bench", "mpi", "--library", "banyan", "--program", program)
	if o.code == 0 || !strings.Contains(o.stderr, "there is no program "+filepath.Join(dir, "heat-banyan")) {
		t.Error(o)
	}
}

// "banyan bench startup" tells the phases of a start on several hosts. A script in place of ssh
// takes this machine for all of them.
func TestBenchStartupOnHosts(t *testing.T) {
	ssh := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(ssh, []byte("for last; do :; done\nexec sh -c \"$last\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(env.SSH, "sh "+ssh)
	o := run(t, tool("banyan"), "bench", "startup", "--library", "banyan", "--host", "a,b", "--procs", "4", "--rounds", "1", "--format", "csv")
	if o.code != 0 {
		t.Fatal(o)
	}
	rows, err := csv.NewReader(strings.NewReader(o.stdout)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	before := 0.0
	for _, phase := range []string{"connect_ms", "agents_ms", "forked_ms", "in_main_ms", "init_ms", "started_ms", "ended_ms"} {
		i := slices.Index(rows[0], phase)
		if i < 0 {
			t.Fatalf("no %s in %v", phase, rows[0])
		}
		at, err := strconv.ParseFloat(rows[1][i], 64)
		if err != nil || at <= before && phase != "in_main_ms" { // it may be in main before the last was forked
			t.Errorf("%s is %q, after %v", phase, rows[1][i], before)
		}
		before = max(before, at)
	}
}

// A program can be built with mpicc and started with mpiexec, and neither is told where the library
// is.
func TestWrappers(t *testing.T) {
	heat := build(t, "mpicc", "../../examples/heat/heat.c", "-O2", "-Wall", "-Werror", "-lm")
	one := run(t, heat, "40")
	if one.code != 0 || !strings.Contains(one.stdout, "mean temperature") {
		t.Fatal(one)
	}
	for _, args := range [][]string{{"-n", "3"}, {"-n", "2", "--replicas", "2"}} {
		if o := run(t, tool("mpiexec"), append(args, heat, "40")...); o.code != 0 || o.stdout != one.stdout {
			t.Errorf("%v: %v; alone it wrote %q", args, o, one.stdout)
		}
	}
}

// mpiexec is a command of its own, for jobs of this machine. What it can't do banyan does in its
// place, and neither repeats what the other has said.
func TestMpiexec(t *testing.T) {
	for _, args := range [][]string{{"--version"}, {"-V"}} {
		want := run(t, tool("banyan"), "--version")
		if o := run(t, tool("mpiexec"), args...); o.code != 0 || o.stdout != want.stdout || !strings.HasPrefix(o.stdout, "Banyan ") {
			t.Errorf("%v: %v, banyan says %v", args, o, want)
		}
	}
	for _, args := range [][]string{{"--help"}, {"-n", "2", "--no-such-flag", "true"}, {"-n", "2"}, {"-n", "2", "./nowhere"}} {
		want := run(t, tool("banyan"), append([]string{"run"}, args...)...)
		if o := run(t, tool("mpirun"), args...); o.code != want.code || o.stdout != want.stdout || o.stderr != want.stderr {
			t.Errorf("%v: %v, banyan run says %v", args, o, want)
		}
	}
	heat := build(t, "mpicc", "../../examples/heat/heat.c", "-O2", "-lm")
	for _, how := range [][]string{nil, {"--on-console-loss=continue"}} {
		o := run(t, tool("mpiexec"), slices.Concat(how, []string{"--mca", "btl", "self", "-n", "2", heat, "40"})...)
		if o.code != 0 || o.stdout != run(t, heat, "40").stdout || strings.Count(o.stderr, "has no meaning here") != 1 {
			t.Errorf("%v: %v", how, o)
		}
	}
}

// A C program survives the same fault plans as a Go program, and prints the undisturbed result.
func TestHeatSurvives(t *testing.T) {
	heat := build(t, "mpicc", "../../examples/heat/heat.c", "-O2", "-lm")
	want := run(t, heat, "48").stdout
	for _, plan := range []string{
		"kill rank=1 at=send:50",
		"kill rank=0 at=20ms; kill rank=1 replica=1 at=40ms; kill rank=3 at=send:200",
		"stop rank=2 replica=1 at=send:100",
		"random count=3 within=100ms seed=5",
	} {
		o := run(t, tool("mpiexec"), "-n", "4", "--replicas", "2", "--heartbeat-timeout", "1s", "--fault", plan, heat, "48")
		if o.code != 0 || o.stdout != want {
			t.Errorf("%s: %v", plan, o)
		}
	}
}

func TestFortran(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	families := build(t, "mpifort", "../../fortran/testdata/families.f90", "-w")
	for _, args := range [][]string{{"-n", "2"}, {"-n", "5"}, {"-n", "3", "--replicas", "2"}} {
		if o := run(t, tool("mpiexec"), append(args, families)...); o.code != 0 || strings.TrimSpace(o.stdout) != "families: 0 failures" {
			t.Errorf("%v: %v", args, o)
		}
	}
	f08 := build(t, "mpifort", "../../fortran/testdata/f08.f90", "-w")
	for _, args := range [][]string{{"-n", "2"}, {"-n", "5"}, {"-n", "3", "--replicas", "2"}} {
		if o := run(t, tool("mpiexec"), append(args, f08)...); o.code != 0 || strings.TrimSpace(o.stdout) != "f08: 0 failures" {
			t.Errorf("%v: %v", args, o)
		}
	}
	fixed := build(t, "mpif77", "../../fortran/testdata/fixed.f")
	if o := run(t, tool("mpiexec"), "-n", "4", fixed); o.code != 0 || !strings.Contains(o.stdout, "the sum of all ranks is    6.0") {
		t.Error(o)
	}
}

// The modules have interfaces: what is wrong with a call is found while compiling.
func TestFortranChecks(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	for _, c := range []struct{ module, call, says string }{
		{"mpi", "call MPI_Barrier(MPI_COMM_WORLD, n)", ""},
		{"mpi", "call MPI_Barrier(MPI_COMM_WORLD)", "Missing actual argument"},
		{"mpi", "call MPI_Comm_rank(MPI_COMM_WORLD, 1.5, n)", "Type mismatch"},
		{"mpi", "call MPI_Get_address(n, n, n)", "Type mismatch"}, // the result has 8 bytes
		{"mpi_f08", "call MPI_Barrier(MPI_COMM_WORLD)", ""},
		{"mpi_f08", "call MPI_Barrier(0)", "no specific subroutine"},
		{"mpi_f08", "call MPI_Send(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)", "no specific subroutine"},
		{"mpi_f08", "call MPI_Comm_size(MPI_INT, n)", "no specific subroutine"},
	} {
		source := filepath.Join(t.TempDir(), "call.f90")
		text := fmt.Sprintf("program p\n use %s\n integer :: n\n %s\nend program\n", c.module, c.call)
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		o := run(t, tool("mpifort"), "-fsyntax-only", source)
		if (o.code == 0) != (c.says == "") || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%s: %s: %v", c.module, c.call, o)
		}
	}
}

// CMake's FindMPI finds all three languages through the wrappers in PATH.
func TestCMake(t *testing.T) {
	for _, name := range []string{"cmake", "make", "gfortran"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	source := t.TempDir()
	for name, text := range map[string]string{
		"CMakeLists.txt": `cmake_minimum_required(VERSION 3.10)
project(try C CXX Fortran)
find_package(MPI REQUIRED COMPONENTS C CXX Fortran)
add_executable(c c.c)
target_link_libraries(c MPI::MPI_C)
add_executable(f f.f90)
target_link_libraries(f MPI::MPI_Fortran)
`,
		"c.c":   "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n",
		"f.f90": "program f\nuse mpi\ninteger ierr\ncall MPI_Init(ierr)\ncall MPI_Finalize(ierr)\nend program\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	built := filepath.Join(source, "build")
	for _, args := range [][]string{{"-S", source, "-B", built}, {"--build", built}} {
		cmd := exec.Command("cmake", args...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cmake %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"c", "f"} {
		if o := run(t, tool("mpiexec"), "-n", "2", filepath.Join(built, name)); o.code != 0 {
			t.Error(name, o)
		}
	}
}

// If a job has several programs, each learns its number.
func TestSeveralPrograms(t *testing.T) {
	source := filepath.Join(t.TempDir(), "which.c")
	if err := os.WriteFile(source, []byte(`#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, flag, *program;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &flag);
	printf("rank %d program %d\n", rank, flag ? *program : -1);
	return MPI_Finalize();
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	which := build(t, "mpicc", source)
	o := run(t, tool("mpiexec"), "-n", "2", which, ":", "-n", "1", which)
	for _, want := range []string{"rank 0 program 0\n", "rank 1 program 0\n", "rank 2 program 1\n"} {
		if o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("no %q: %v", want, o)
		}
	}
}

// pkg-config finds the header and the library.
func TestPkgConfig(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(dir, "lib", "pkgconfig", "banyan.pc"))
	if err != nil || !strings.Contains(string(text), "prefix="+dir+"\n") {
		t.Error(string(text), err)
	}
	if _, err := exec.LookPath("pkg-config"); err != nil {
		return
	}
	cmd := exec.Command("pkg-config", "--cflags", "--libs", "banyan")
	cmd.Env = append(os.Environ(), "PKG_CONFIG_PATH="+filepath.Join(dir, "lib", "pkgconfig"))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "-lmpi_abi") {
		t.Errorf("%s: %v", out, err)
	}
}
