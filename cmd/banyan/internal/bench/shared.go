package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/study/report"
)

// What the commands under "banyan bench" have in common.

// unmeasured returns the error of a bench that has failed, or was interrupted.
func unmeasured(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return cli.Exit(130, errors.New("interrupted"))
	}
	return cli.Failed(err)
}

// quantile is the value below which a share of some values lies. It sorts them.
func quantile(values []float64, share float64) float64 {
	slices.Sort(values)
	at := share * float64(len(values)-1)
	low := values[int(at)]
	return low + (at-float64(int(at)))*(values[min(int(at)+1, len(values)-1)]-low)
}

// prepareReport makes the directory of --out, if there is to be one. It refuses a bad name before
// anything is measured.
func prepareReport(dir string) error {
	if dir == "" {
		return nil
	}
	if err := report.Prepare(dir); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// workshop is where the measured programs are built.
type workshop struct {
	bin string // where Banyan's commands are, mpicc too
	dir string // for the programs
}

func openWorkshop() (w workshop, err error) { return openWorkshopIn("") }

// openWorkshopIn makes the folder in a directory, or in that of temporary files.
func openWorkshopIn(dir string) (w workshop, err error) {
	self, err := os.Executable()
	if err != nil {
		return w, err
	}
	w.bin = filepath.Dir(self)
	if dir != "" { // other hosts start programs in another working directory
		if dir, err = filepath.Abs(dir); err != nil {
			return w, err
		}
	}
	w.dir, err = os.MkdirTemp(dir, "banyan-bench-")
	return w, err
}

func (w workshop) close() { os.RemoveAll(w.dir) }

// lacks reports that a library is missing. That is an error only for Banyan, or for a peer that
// the user asked for.
func (w workshop) lacks(name string, wanted bool) error {
	switch {
	case name == "banyan":
		return cli.Failedf("there is no mpicc in %s: is Banyan built (make build)?", w.bin)
	case wanted:
		return cli.Failedf("there is no mpicc of %s (make bench-mpi installs it)", name)
	}
	fmt.Fprintf(os.Stderr, "banyan: %s isn't installed and is left out\n", name)
	return nil
}
