package compiler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/job/env"
)

func wrapper(l Language, env map[string]string) *Wrapper {
	return &Wrapper{Language: l, At: Installation{Include: "/p/include", Lib: "/p/lib"}, Version: "v", Getenv: func(name string) string { return env[name] }}
}

func TestCommand(t *testing.T) {
	const link = " -L/p/lib -Wl,-rpath,/p/lib -lmpi_abi"
	const fortran = " -L/p/lib -Wl,-rpath,/p/lib -lmpifort_abi -Wl,--push-state,--no-as-needed -lmpi_abi -Wl,--pop-state"
	for _, tc := range []struct {
		language Language
		env      map[string]string
		args     string
		want     string
		tell     bool
	}{
		{C, nil, "a.c -o a -lm", "gcc -I/p/include a.c -o a -lm" + link, false},
		{C, nil, "-O2 -c a.c", "gcc -I/p/include -O2 -c a.c", false},
		{C, nil, "-E a.c", "gcc -I/p/include -E a.c", false},
		{C, nil, "--version", "gcc --version", false},
		{C, nil, "", "gcc", false},
		{CXX, nil, "a.o -o a", "g++ -I/p/include a.o -o a" + link, false},
		{Fortran, nil, "a.f", "gfortran -I/p/include -fallow-argument-mismatch a.f" + fortran, false},
		{C, map[string]string{"OMPI_CC": "clang -g"}, "a.c", "clang -g -I/p/include a.c" + link, false},
		{C, map[string]string{"OMPI_CC": "clang", env.CC: "tcc"}, "-c a.c", "tcc -I/p/include -c a.c", false},
		{C, nil, "-show", "gcc -I/p/include" + link, true},
		{C, nil, "-show -c a.c", "gcc -I/p/include -c a.c", true},
		{C, nil, "-showme", "gcc -I/p/include" + link, true},
		{C, nil, "-showme:compile", "-I/p/include", true},
		{C, nil, "--showme:link", strings.TrimSpace(link), true},
		{C, nil, "-showme:incdirs", "/p/include", true},
		{C, nil, "-showme:libdirs", "/p/lib", true},
		{Fortran, nil, "-showme:libs", "mpifort_abi mpi_abi", true},
		{C, nil, "-showme:command", "gcc", true},
		{C, nil, "-showme:version", "v", true},
		{C, nil, "-compile-info", "gcc -I/p/include", true},
		{C, nil, "-link-info", "gcc" + link, true},
	} {
		argv, tell := wrapper(tc.language, tc.env).Command(strings.Fields(tc.args))
		got := strings.Join(argv, " ")
		if tc.tell {
			got = strings.TrimSuffix(tell, "\n")
		}
		if got != tc.want || tc.tell == (tell == "") {
			t.Errorf("%q: got %q, want %q", tc.args, got, tc.want)
		}
	}
}

func TestFind(t *testing.T) {
	installed, tree := t.TempDir(), t.TempDir()
	for _, file := range []string{
		filepath.Join(installed, "include/mpi.h"), filepath.Join(installed, "lib/libmpi_abi.so"),
		filepath.Join(tree, "bin/include/mpi.h"), filepath.Join(tree, "bin/libmpi_abi.so"),
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := Find(installed + "/bin"); err != nil || at != (Installation{installed + "/include", installed + "/lib"}) {
		t.Error(at, err)
	}
	if at, err := Find(tree + "/bin"); err != nil || at != (Installation{tree + "/bin/include", tree + "/bin"}) {
		t.Error(at, err)
	}
	if _, err := Find(t.TempDir() + "/bin"); err == nil || !strings.Contains(err.Error(), "mpi.h") {
		t.Error(err)
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]Language{"mpicc": C, "mpic++": CXX, "mpif90": Fortran, "mpicc.banyan": C} {
		if l, ok := Named(name); !ok || l != want {
			t.Error(name, l, ok)
		}
	}
	if _, ok := Named("banyan"); ok {
		t.Error("banyan is no wrapper")
	}
}
