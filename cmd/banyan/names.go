package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"banyan/internal/job/compiler"
)

// This command has other names, as links to it: mpicc, mpicxx, mpifort and their other names are
// compilers, mpiexec and mpirun are banyan run. scripts/library.sh installs the smaller command of
// directory mpiexec by the latter names, which calls this one for what it can't do.

// isLauncher says whether a name is one of banyan run.
func isLauncher(name string) bool {
	name = strings.TrimSuffix(name, ".banyan")
	return name == "mpiexec" || name == "mpirun"
}

// launcherArgs are the arguments of banyan for those of mpiexec.
func launcherArgs(args []string) []string {
	if len(args) == 1 && slices.Contains([]string{"--version", "-version", "-V"}, args[0]) {
		return []string{"--version"}
	}
	return append([]string{"run"}, args...)
}

// compile calls the real compiler, or prints its flags. It returns an exit code.
func compile(language compiler.Language, args []string) int {
	argv, err := compileCommand(language, args)
	if err == nil && argv == nil {
		return 0
	}
	if err == nil {
		err = unix.Exec(argv[0], argv[1:], os.Environ())
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
	return 1
}

// compileCommand returns the path of the compiler and its arguments from 0 on, or nil if it has
// answered a question.
func compileCommand(language compiler.Language, args []string) ([]string, error) {
	self, err := os.Executable() // the kernel has followed links
	if err != nil {
		return nil, err
	}
	at, err := compiler.Find(filepath.Dir(self))
	if err != nil {
		return nil, err
	}
	w := &compiler.Wrapper{Language: language, At: at, Getenv: os.Getenv, Version: thisBuild().name()}
	argv, tell := w.Command(args)
	if tell != "" {
		_, err := fmt.Print(tell)
		return nil, err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("the compiler %s: %w", argv[0], err)
	}
	return append([]string{path}, argv...), nil
}
