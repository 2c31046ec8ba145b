// Command mpiexec is banyan run for jobs of this machine, and nothing else: it links what those
// need. Command banyan has simulators, charts and benchmarks, too, and takes some 10 ms of a
// processor before its main begins, as long as two ranks take to start.
//
// Any other job (on several hosts, or one that outlives its console), a call for help and one for
// the version it leaves to the command banyan in its own directory, which takes its place in this
// process.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/job"
)

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	run := job.LocalCommand(func(args []string) error { return handOver(append([]string{"run"}, args...)) })
	run.SetArgs(args)
	run.SilenceErrors, run.SilenceUsage = true, true
	start := run.Execute
	if len(args) == 1 && slices.Contains([]string{"--version", "-version", "-V"}, args[0]) {
		start = func() error { return handOver([]string{"--version"}) }
	}
	code, err := cli.Code(start())
	if err != nil {
		fmt.Fprintln(os.Stderr, "banyan:", err)
	}
	return code
}

// handOver makes this process the command banyan. It returns only if that can't be.
func handOver(args []string) error {
	self, err := os.Executable() // the kernel has followed links
	if err != nil {
		return cli.Exit(1, err)
	}
	banyan := filepath.Join(filepath.Dir(self), "banyan")
	if here, err := filepath.EvalSymlinks(banyan); err == nil && here == self {
		return cli.Exit(1, errors.New(banyan+" leads to mpiexec: put the command banyan there"))
	}
	err = unix.Exec(banyan, append([]string{"banyan"}, args...), os.Environ())
	return cli.Exit(1, fmt.Errorf("this needs the command banyan beside mpiexec: %s: %w", banyan, err))
}
