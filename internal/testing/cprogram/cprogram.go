// Package cprogram compiles programs against the C library, as its users do, and runs them, for
// the tests of the library. A package of such tests has
//
//	func TestMain(m *testing.M) { os.Exit(cprogram.Main(m)) }
//
// which installs the library for them. The C programs of all these tests are in capi/test/testdata.
package cprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"banyan/internal/testing/scratch"
)

// installed is the one installation of a test process. Main makes it.
var installed struct {
	dir      string   // has bin, lib and include; and the programs that Compile has made
	root     string   // of the module
	programs sync.Map // source → func() error
}

// Main installs the library into a directory of its own, runs the tests, and removes it. It
// returns the exit code. Without a C compiler it says so, and runs none.
func Main(m *testing.M) int {
	if _, err := exec.LookPath("gcc"); err != nil {
		fmt.Println("these tests need a C compiler; scripts/tools.sh installs one:", err)
		return 0
	}
	made, err := scratch.Make()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer made.Remove()
	installed.dir = made.Path
	if installed.root, err = scratch.ModuleRoot(); err != nil {
		fmt.Println(err)
		return 1
	}
	build := exec.Command(Source("scripts", "library.sh"), installed.dir)
	build.Env = append(os.Environ(), "PROFILE=off", // it would compile everything again
		"KEPT="+keptDir())
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Printf("scripts/library.sh: %v\n%s", err, out)
		return 1
	}
	if err := preload(); err != nil {
		fmt.Println(err)
		return 1
	}
	return m.Run()
}

// Dir is where the library is installed, as under a prefix.
func Dir() string { return installed.dir }

// Header is the directory of mpi.h.
func Header() string { return filepath.Join(installed.dir, "include") }

// Library is the path of the C library.
func Library() string { return filepath.Join(installed.dir, "lib", "libmpi_abi.so.1") }

// Tool is the path of an installed command.
func Tool(name string) string { return filepath.Join(installed.dir, "bin", name) }

// Source is the path of a file of this repository.
func Source(path ...string) string {
	return filepath.Join(append([]string{installed.root}, path...)...)
}

// Testdata is the path of a file of capi/test/testdata.
func Testdata(name string) string { return Source("capi", "test", "testdata", name) }

// Compile builds testdata/name.c once and returns the program's path. The library is linked unless
// a flag says otherwise.
func Compile(t *testing.T, name string, flags ...string) string {
	t.Helper()
	out := filepath.Join(installed.dir, name)
	once, _ := installed.programs.LoadOrStore(name, sync.OnceValue(func() error {
		args := []string{"-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-pthread", "-I", Header(), "-o", out, Testdata(name + ".c")}
		if len(flags) == 0 {
			flags = []string{Library(), "-Wl,-rpath," + filepath.Dir(Library())}
		}
		if text, err := exec.Command("gcc", slices.Concat(args, sanitized(), flags)...).CombinedOutput(); err != nil {
			return fmt.Errorf("gcc %s: %v\n%s", name, err, text)
		}
		return nil
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Build compiles a source with one of the wrappers, such as mpicc, and returns the program's path.
func Build(t *testing.T, wrapper, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(Tool(wrapper), slices.Concat([]string{"-o", program, source}, sanitized(), flags)...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", wrapper, source, err, out)
	}
	return program
}
