// Command banyan runs message-passing programs that outlive the death of
// processes.
//
// This package only wires: it reads the command line and calls the packages that
// do the work. Each subcommand is in a file of its own.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"banyan/internal/job/compiler"
)

func main() { os.Exit(execute()) }

// execute runs the command line and returns the exit code: 0, that of an
// exitError, or 2 for any other error.
func execute() int {
	root := newRootCommand()
	name := filepath.Base(os.Args[0])
	if language, ok := compiler.Named(name); ok {
		return compile(language, os.Args[1:])
	}
	if isLauncher(name) {
		root.SetArgs(launcherArgs(os.Args[1:]))
	}
	err := root.Execute()
	if err == nil {
		return 0
	}
	code := 2
	if e := (*exitError)(nil); errors.As(err, &e) {
		code = e.code
		err = e.err
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "banyan:", err)
	}
	return code
}

// exitError asks for an exit code. Without err nothing is printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }
