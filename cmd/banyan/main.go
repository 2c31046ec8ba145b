// Command banyan runs message-passing programs that outlive the death of
// processes.
//
// This package and those under internal only wire: they read the command line, call the packages
// that do the work, and print. There is a package for each group of commands; internal/cli is
// what they share.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/wrapper"
	"banyan/internal/job/compiler"
)

func main() { os.Exit(execute()) }

// execute runs the command line and returns the exit code: 0, that of a
// cli.ExitError, or 2 for any other error.
func execute() int {
	root := newRootCommand()
	name := filepath.Base(os.Args[0])
	if language, ok := compiler.Named(name); ok {
		return wrapper.Run(language, os.Args[1:])
	}
	if isLauncher(name) {
		root.SetArgs(launcherArgs(os.Args[1:]))
	}
	code, err := cli.Code(root.Execute())
	if err != nil {
		fmt.Fprintln(os.Stderr, "banyan:", err)
	}
	return code
}
