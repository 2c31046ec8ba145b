package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"banyan/internal/study/table"
)

// What the commands under "banyan bench" have in common.

// tableFlags are those of a bench that writes a table.
type tableFlags struct{ format string }

func (f *tableFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.format, "format", "table", "table, csv or json")
}

func (f *tableFlags) check() (table.Format, error) {
	format := table.Format(f.format)
	if err := format.Validate(); err != nil {
		return "", fmt.Errorf("--format: %w", err)
	}
	return format, nil
}

// roundsFlags are those of a bench that goes round after round.
type roundsFlags struct {
	tableFlags
	rounds int
}

func (f *roundsFlags) define(flags *pflag.FlagSet, rounds int) {
	flags.IntVar(&f.rounds, "rounds", rounds, "rounds")
	f.tableFlags.define(flags)
}

func (f *roundsFlags) check() (table.Format, error) {
	if f.rounds < 1 {
		return "", fmt.Errorf("--rounds %d: one at least", f.rounds)
	}
	return f.tableFlags.check()
}

// interruptible ends a context by a signal, so that a bench has time to clean up.
func interruptible(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
}

// unmeasured is the error of a bench that has failed, or was interrupted.
func unmeasured(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &exitError{code: 130, err: errors.New("interrupted")}
	}
	return &exitError{code: 1, err: err}
}

// workshop is where programs are built that are measured.
type workshop struct {
	bin string // where Banyan's commands are: the mpicc beside this one is its
	dir string // for the programs
}

func openWorkshop() (w workshop, err error) {
	self, err := os.Executable()
	if err != nil {
		return w, err
	}
	w.bin = filepath.Dir(self)
	w.dir, err = os.MkdirTemp("", "banyan-bench-")
	return w, err
}

func (w workshop) close() { os.RemoveAll(w.dir) }

// lacks says that a library isn't there. That is no error of a peer that nobody asked for.
func (w workshop) lacks(name string, wanted bool) error {
	switch {
	case name == "banyan":
		return &exitError{1, fmt.Errorf("there is no mpicc in %s: is Banyan built (make build)?", w.bin)}
	case wanted:
		return &exitError{1, fmt.Errorf("there is no mpicc of %s (make bench-mpi installs it)", name)}
	}
	fmt.Fprintf(os.Stderr, "banyan: %s isn't installed, and left out\n", name)
	return nil
}
