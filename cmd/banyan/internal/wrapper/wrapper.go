// Package wrapper is mpicc and its other names, as a process: it becomes the compiler.
package wrapper

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/version"
	"banyan/internal/job/compiler"
)

// Run calls the real compiler, or prints its flags. It returns an exit code.
func Run(language compiler.Language, args []string) int {
	argv, err := command(language, args)
	if err == nil && argv == nil {
		return 0
	}
	if err == nil {
		err = unix.Exec(argv[0], argv[1:], os.Environ())
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
	return 1
}

// command returns the path of the compiler and its arguments from 0 on, or nil if it has
// answered a question.
func command(language compiler.Language, args []string) ([]string, error) {
	self, err := os.Executable() // the kernel has followed links
	if err != nil {
		return nil, err
	}
	at, err := compiler.Find(filepath.Dir(self))
	if err != nil {
		return nil, err
	}
	w := &compiler.Wrapper{Language: language, At: at, Getenv: os.Getenv, Version: version.This().Name()}
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
