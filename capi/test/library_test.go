package test

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"banyan/abi"
	"banyan/internal/testing/cprogram"
)

// The library has the standard's soname and defines all functions of the table: each MPI_X is weak,
// each PMPI_X strong. Of others it has the names of extensions alone, in both spellings, and the
// conversions between C and Fortran, which mpi.h defines by itself.
func TestSymbols(t *testing.T) {
	file, err := elf.Open(cprogram.Library())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if names, err := file.DynString(elf.DT_SONAME); err != nil || len(names) != 1 || names[0] != "libmpi_abi.so.1" {
		t.Errorf("soname %q, %v", names, err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]elf.SymBind{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			defined[s.Name] = elf.ST_BIND(s.Info)
		}
	}
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range table.Functions {
		if bind, ok := defined[f.Name]; !ok || bind != elf.STB_WEAK {
			t.Errorf("%s: defined %v, %v", f.Name, ok, bind)
		}
		if bind, ok := defined["P"+f.Name]; !ok || bind != elf.STB_GLOBAL {
			t.Errorf("P%s: defined %v, %v", f.Name, ok, bind)
		}
	}
	header, err := os.ReadFile(filepath.Join(cprogram.Header(), "mpi.h"))
	if err != nil {
		t.Fatal(err)
	}
	inHeader := make(map[string]bool)
	for _, found := range regexp.MustCompile(`(?m)^(?:#define|static __inline__ int) (MPI_\w+_(?:c|f|f08)2(?:c|f|f08))\b`).FindAllSubmatch(header, -1) {
		name := string(found[1])
		inHeader[name] = true
		if _, ok := defined[name]; !ok {
			t.Errorf("%s is in mpi.h only", name)
		}
	}
	if len(inHeader) != 28 { // two of each of 11 kinds of handles, 6 of statuses
		t.Errorf("mpi.h has %d conversions", len(inHeader))
	}
	for name := range defined {
		if inHeader[name] {
			continue
		}
		if strings.HasPrefix(name, "MPI_") || strings.HasPrefix(name, "PMPI_") {
			f := strings.TrimPrefix(name, "P")
			// MPIX_Comm_revoke is MPI_Comm_revoke, too.
			_, extension := defined[strings.Replace(name, "MPI_Comm_", "MPIX_Comm_", 1)]
			if !inTable(table, f) && (!extension || !strings.Contains(name, "MPI_Comm_")) {
				t.Errorf("%s isn't in the table", name)
			}
		}
	}
}

func inTable(table *abi.Table, name string) bool {
	for _, f := range table.Functions {
		if f.Name == name {
			return true
		}
	}
	return false
}

// The library never calls a function by its MPI_ name, because a profiling library may have
// replaced it. So no relocation of the library refers to such a name.
func TestOwnNames(t *testing.T) {
	out, err := exec.Command("objdump", "-R", cprogram.Library()).CombinedOutput()
	if err != nil {
		t.Fatalf("objdump: %v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("R_X86_64_")) && !bytes.Contains(out, []byte("R_AARCH64_")) {
		t.Fatalf("objdump shows no relocations: %.500s", out)
	}
	if own := regexp.MustCompile(`\s(P?MPI_\w+)`).FindAllSubmatch(out, -1); own != nil {
		t.Errorf("the library refers to its own %s", own[0][1])
	}
	// The library also has no direct call to one, which no relocation would show.
	out, err = exec.Command("objdump", "-d", "--no-show-raw-insn", cprogram.Library()).Output()
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`\s(call|jmp|b|bl)\s.*<P?MPI_\w+>\n?$`)
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte("MPI_")) && call.Match(line) { // most of millions of lines aren't for the slow expression
			t.Fatalf("the library calls its own functions: %s", line)
		}
	}
}

// A profiling library can stand between the program and the library.
func TestProfiling(t *testing.T) {
	o := cprogram.Run(t, cprogram.Compile(t, "plain"))
	if o.Fine(t); o.Stdout != "" {
		t.Errorf("%v", o)
	}
	tool := cprogram.Compile(t, "profile", "-shared", "-fPIC")
	const own = "1 sends, 1 receives, 2 others\n"
	preloaded := cprogram.Run(t, "/usr/bin/env", "LD_PRELOAD="+tool, cprogram.Compile(t, "plain"))
	linked := compileBefore(t, "plain", "profiled", tool)
	for _, o := range []cprogram.Outcome{preloaded, cprogram.Run(t, linked), cprogram.Job(t, 3, linked)} {
		if o.Fine(t); strings.ReplaceAll(o.Stdout, own, "") != "" || o.Stdout == "" {
			t.Errorf("%v", o)
		}
	}
}

// compileBefore is compile under another name, linked with a library in front.
func compileBefore(t *testing.T, source, name, before string) string {
	t.Helper()
	out := filepath.Join(cprogram.Dir(), name)
	args := []string{"-I", cprogram.Header(), "-o", out, filepath.Join("testdata", source+".c"), before, cprogram.Library(),
		"-Wl,-rpath," + cprogram.Dir() + ":" + filepath.Join(cprogram.Dir(), "lib")}
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, text)
	}
	return out
}

// A program may load the library late and with RTLD_LOCAL. The library works, and replaces none of
// the program's signal handlers.
func TestLate(t *testing.T) {
	late := cprogram.Compile(t, "late", "-ldl")
	o := cprogram.Run(t, late, cprogram.Library())
	if o.Fine(t); o.Stdout != "rank 0 of 1\n" {
		t.Errorf("%v", o)
	}
	o = cprogram.Job(t, 2, late, cprogram.Library())
	if o.Fine(t); !strings.Contains(o.Stdout, "rank 0 of 2\n") || !strings.Contains(o.Stdout, "rank 1 of 2\n") {
		t.Errorf("%v", o)
	}
}

// Python can load the library with ctypes.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	const program = `
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
assert mpi.MPI_Init(None, None) == 0
n = ctypes.c_int()
world = ctypes.c_void_p(0x101)
assert mpi.MPI_Comm_rank(world, ctypes.byref(n)) == 0
print("rank", n.value)
assert mpi.MPI_Finalize() == 0
`
	o := cprogram.Job(t, 2, python, "-c", program, cprogram.Library())
	if o.Fine(t); !strings.Contains(o.Stdout, "rank 0\n") || !strings.Contains(o.Stdout, "rank 1\n") {
		t.Errorf("%v", o)
	}
}

// The header compiles as strict C and as C++.
func TestHeader(t *testing.T) {
	for _, args := range [][]string{
		{"gcc", "-std=c89", "-Wall", "-Wextra", "-Werror", "-I", cprogram.Header(), "-fsyntax-only", "-x", "c", filepath.Join(cprogram.Header(), "mpi.h")},
		{"gcc", "-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-I", cprogram.Header(), "-fsyntax-only", "-x", "c", filepath.Join(cprogram.Header(), "mpi.h")},
		{"g++", "-std=c++11", "-Wall", "-Werror", "-I", cprogram.Header(), "-o", filepath.Join(cprogram.Dir(), "throw"), "testdata/throw.cc", cprogram.Library(), "-Wl,-rpath," + filepath.Join(cprogram.Dir(), "lib")},
		{"g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-I", cprogram.Header(), "-o", filepath.Join(cprogram.Dir(), "header"), "testdata/header.cc", cprogram.Library(), "-Wl,-rpath," + filepath.Join(cprogram.Dir(), "lib")},
	} {
		if _, err := exec.LookPath(args[0]); err != nil {
			t.Skip("there is no", args[0])
		}
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	cprogram.Run(t, filepath.Join(cprogram.Dir(), "header")).Fine(t)
	// An error handler may throw, because all of the library's frames below it can be unwound.
	o := cprogram.Run(t, filepath.Join(cprogram.Dir(), "throw"))
	if o.Fine(t); o.Stdout != "caught 100\n" {
		t.Errorf("%v", o)
	}
}
