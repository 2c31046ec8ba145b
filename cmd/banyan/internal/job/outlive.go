package job

import (
	"fmt"
	"os"
	"path/filepath"

	"banyan/internal/job/console"
	"banyan/internal/job/fleet"
	"banyan/internal/job/succession"
)

// makeWill says what another launcher has to do that goes on with the job. input says that consoles
// send the job's input.
func (f *runFlags) makeWill(info console.Info, input bool) *succession.Will {
	w := &succession.Will{Info: info, Input: input, Batch: os.Getenv("SLURM_JOB_ID"), Output: absolute(f.show.output), Error: absolute(f.show.error), Report: absolute(f.report)}
	if !input {
		w.File = succession.InputFile(os.Stdin)
	}
	return w
}

// absolute is a path for a process in another directory.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// outlive has the job's agents go on if this process dies, if it has a will and enough of them can
// vote.
func (f *runFlags) outlive(ready *fleet.Fleet) error {
	if f.will == nil {
		return nil
	}
	note := func(text string) { fmt.Fprintln(f.config.Stderr, "banyan:", text) }
	owner, err := succession.NewOwner(ready, &f.config, *f.will, f.hosts.witnessDir, func(why error) {
		fmt.Fprintln(os.Stderr, "banyan:", why) // to the launcher's log
		os.Exit(1)
	}, note)
	if err != nil {
		return err
	}
	if owner == nil {
		if f.hosts.witnessDir != "" {
			note("the witness directory isn't needed: all hosts are this machine, and the job ends with it")
		}
		return nil
	}
	f.ends = append(f.ends, owner.Close)
	f.owner = owner
	screen, apart := f.config.Screen.(*console.Screen)
	if !apart {
		return nil
	}
	return f.outputs.outlive(screen, f.will.Info.Name)
}

// finish has nobody go on with the job.
func (f *runFlags) finish(code int) {
	if f.owner.Finish(code) {
		f.outputs.finish()
	}
}
