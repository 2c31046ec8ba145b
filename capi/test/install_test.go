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
	"banyan/internal/testing/cprogram"
)

// "banyan bench startup" works with the installed files.
func TestBenchStartup(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "bench", "startup", "--procs", "1,3", "--rounds", "1", "--format", "csv")
	if o.Code != 0 || !strings.Contains(o.Stdout, "\nbanyan,1,") || !strings.Contains(o.Stdout, "\nbanyan,3,") {
		t.Error(o)
	}
}

// "banyan bench mpi" measures each kind of row.
func TestBenchMPI(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "bench", "mpi", "--library", "banyan", "--kind", "vector-stream,indexed-stream,struct-stream,rate,posted,unexpected,threads", "--rounds", "1", "--format", "csv")
	if o.Code != 0 {
		t.Fatal(o)
	}
	for _, row := range []string{"vector-stream,16384,2", "indexed-stream,1024,2", "struct-stream,1024,2", "rate,8,2", "posted,8,2", "unexpected,8,2", "threads-2,8,2", "threads-4,8,2"} {
		if !regexp.MustCompile(`\n` + row + `,auto,\d`).MatchString(o.Stdout) {
			t.Errorf("no row %s:\n%s", row, o.Stdout)
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
	for name, wrapper := range map[string]string{"banyan": cprogram.Tool("mpicc"), "openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"} {
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
	o := cprogram.Run(t, cprogram.Tool("banyan"), "bench", "mpi", "--program", program, "--procs", "1,2", "--rounds", "2", "--format", "csv")
	if o.Code != 0 || !strings.Contains(o.Stdout, "\n"+program+",1,") || !strings.Contains(o.Stdout, "\n"+program+",2,") {
		t.Error(o)
	}
	for _, name := range libraries {
		if !strings.Contains(o.Stdout, ","+name+"_s,") {
			t.Errorf("no times of %s:\n%s", name, o.Stdout)
		}
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "bench", "mpi", "--library", "banyan", "--program", filepath.Join(dir, "heat-{lib}")+" nonsense", "--rounds", "1")
	if o.Code == 0 || !strings.Contains(o.Stderr, "banyan, "+dir) {
		t.Error(o)
	}
	if err := os.Remove(filepath.Join(dir, "heat-banyan")); err != nil {
		t.Fatal(err)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "bench", "mpi", "--library", "banyan", "--program", program)
	if o.Code == 0 || !strings.Contains(o.Stderr, "there is no program "+filepath.Join(dir, "heat-banyan")) {
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
	o := cprogram.Run(t, cprogram.Tool("banyan"), "bench", "startup", "--library", "banyan", "--host", "a,b", "--procs", "4", "--rounds", "1", "--format", "csv")
	if o.Code != 0 {
		t.Fatal(o)
	}
	rows, err := csv.NewReader(strings.NewReader(o.Stdout)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v: %s", err, o.Stdout)
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
	heat := cprogram.Build(t, "mpicc", "../../examples/heat/heat.c", "-O2", "-Wall", "-Werror", "-lm")
	one := cprogram.Run(t, heat, "40")
	if one.Code != 0 || !strings.Contains(one.Stdout, "mean temperature") {
		t.Fatal(one)
	}
	for _, args := range [][]string{{"-n", "3"}, {"-n", "2", "--replicas", "2"}} {
		if o := cprogram.Run(t, cprogram.Tool("mpiexec"), append(args, heat, "40")...); o.Code != 0 || o.Stdout != one.Stdout {
			t.Errorf("%v: %v; alone it wrote %q", args, o, one.Stdout)
		}
	}
}

// mpiexec is a command of its own, for jobs of this machine. What it can't do banyan does in its
// place, and neither repeats what the other has said.
func TestMpiexec(t *testing.T) {
	for _, args := range [][]string{{"--version"}, {"-V"}} {
		want := cprogram.Run(t, cprogram.Tool("banyan"), "--version")
		if o := cprogram.Run(t, cprogram.Tool("mpiexec"), args...); o.Code != 0 || o.Stdout != want.Stdout || !strings.HasPrefix(o.Stdout, "Banyan ") {
			t.Errorf("%v: %v, banyan says %v", args, o, want)
		}
	}
	for _, args := range [][]string{{"--help"}, {"-n", "2", "--no-such-flag", "true"}, {"-n", "2"}, {"-n", "2", "./nowhere"}} {
		want := cprogram.Run(t, cprogram.Tool("banyan"), append([]string{"run"}, args...)...)
		if o := cprogram.Run(t, cprogram.Tool("mpirun"), args...); o.Code != want.Code || o.Stdout != want.Stdout || o.Stderr != want.Stderr {
			t.Errorf("%v: %v, banyan run says %v", args, o, want)
		}
	}
	heat := cprogram.Build(t, "mpicc", "../../examples/heat/heat.c", "-O2", "-lm")
	for _, how := range [][]string{nil, {"--on-console-loss=continue"}} {
		o := cprogram.Run(t, cprogram.Tool("mpiexec"), slices.Concat(how, []string{"--mca", "btl", "self", "-n", "2", heat, "40"})...)
		if o.Code != 0 || o.Stdout != cprogram.Run(t, heat, "40").Stdout || strings.Count(o.Stderr, "has no meaning here") != 1 {
			t.Errorf("%v: %v", how, o)
		}
	}
}

// A C program survives the same fault plans as a Go program, and prints the undisturbed result.
func TestHeatSurvives(t *testing.T) {
	heat := cprogram.Build(t, "mpicc", "../../examples/heat/heat.c", "-O2", "-lm")
	want := cprogram.Run(t, heat, "48").Stdout
	for _, plan := range []string{
		"kill rank=1 at=send:50",
		"kill rank=0 at=20ms; kill rank=1 replica=1 at=40ms; kill rank=3 at=send:200",
		"stop rank=2 replica=1 at=send:100",
		"random count=3 within=100ms seed=5",
	} {
		o := cprogram.Run(t, cprogram.Tool("mpiexec"), "-n", "4", "--replicas", "2", "--heartbeat-timeout", "1s", "--fault", plan, heat, "48")
		if o.Code != 0 || o.Stdout != want {
			t.Errorf("%s: %v", plan, o)
		}
	}
}

func TestFortran(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	families := cprogram.Build(t, "mpifort", "../../fortran/testdata/families.f90", "-w")
	for _, args := range [][]string{{"-n", "2"}, {"-n", "5"}, {"-n", "3", "--replicas", "2"}} {
		if o := cprogram.Run(t, cprogram.Tool("mpiexec"), append(args, families)...); o.Code != 0 || strings.TrimSpace(o.Stdout) != "families: 0 failures" {
			t.Errorf("%v: %v", args, o)
		}
	}
	f08 := cprogram.Build(t, "mpifort", "../../fortran/testdata/f08.f90", "-w")
	for _, args := range [][]string{{"-n", "2"}, {"-n", "5"}, {"-n", "3", "--replicas", "2"}} {
		if o := cprogram.Run(t, cprogram.Tool("mpiexec"), append(args, f08)...); o.Code != 0 || strings.TrimSpace(o.Stdout) != "f08: 0 failures" {
			t.Errorf("%v: %v", args, o)
		}
	}
	fixed := cprogram.Build(t, "mpif77", "../../fortran/testdata/fixed.f")
	if o := cprogram.Run(t, cprogram.Tool("mpiexec"), "-n", "4", fixed); o.Code != 0 || !strings.Contains(o.Stdout, "the sum of all ranks is    6.0") {
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
		o := cprogram.Run(t, cprogram.Tool("mpifort"), "-fsyntax-only", source)
		if (o.Code == 0) != (c.says == "") || !strings.Contains(o.Stderr, c.says) {
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
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(cprogram.Dir(), "bin")+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cmake %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"c", "f"} {
		if o := cprogram.Run(t, cprogram.Tool("mpiexec"), "-n", "2", filepath.Join(built, name)); o.Code != 0 {
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
	which := cprogram.Build(t, "mpicc", source)
	o := cprogram.Run(t, cprogram.Tool("mpiexec"), "-n", "2", which, ":", "-n", "1", which)
	for _, want := range []string{"rank 0 program 0\n", "rank 1 program 0\n", "rank 2 program 1\n"} {
		if o.Code != 0 || !strings.Contains(o.Stdout, want) {
			t.Errorf("no %q: %v", want, o)
		}
	}
}

// pkg-config finds the header and the library.
func TestPkgConfig(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(cprogram.Dir(), "lib", "pkgconfig", "banyan.pc"))
	if err != nil || !strings.Contains(string(text), "prefix="+cprogram.Dir()+"\n") {
		t.Error(string(text), err)
	}
	if _, err := exec.LookPath("pkg-config"); err != nil {
		return
	}
	cmd := exec.Command("pkg-config", "--cflags", "--libs", "banyan")
	cmd.Env = append(os.Environ(), "PKG_CONFIG_PATH="+filepath.Join(cprogram.Dir(), "lib", "pkgconfig"))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "-lmpi_abi") {
		t.Errorf("%s: %v", out, err)
	}
}
