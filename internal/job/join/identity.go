package join

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// identity is which process of which job this is.
type identity struct {
	self         proto.Proc
	launcherRank proto.Proc // in the launcher's eyes; a spare with a slot has another self
	layout       layout.Layout
	spares       int          // how many processes the launcher has started beyond the job
	replacement  *replacement // nil unless this process is a replacement
	output       *output      // what becomes a replacement's stdout and stderr, or nil
}

// readIdentity asks PMI and the environment. launcher is nil if no launcher has started this
// process. If there is an error, it returns what it knows by then.
func readIdentity(launcher *pmi.Client, lifeline bool) (id identity, err error) {
	procs := launcher.Size()
	id.launcherRank = proto.Proc(launcher.Rank())
	id.self = id.launcherRank
	if !lifeline && procs > 1 {
		if id.spares, err = readSpares(procs); err != nil {
			return id, err
		}
	}
	if id.layout, err = readLayout(procs - id.spares); err != nil {
		return id, err
	}
	if id.spares > 0 && !id.layout.Replicated() {
		return id, errNoReplicas
	}
	if id.replacement, err = readReplacement(id.layout.Procs()); err != nil {
		return id, err
	}
	if id.replacement != nil && (launcher == nil || !lifeline) {
		return id, errNoLauncher
	}
	id.output, err = readOutput()
	return id, err
}

// isSpare says whether the launcher has started this process as a spare.
func (id *identity) isSpare() bool {
	return id.spares > 0 && int(id.launcherRank) >= id.layout.Procs()
}

// incarnation is this process's own.
func (id *identity) incarnation() proto.Incarnation { return id.replacement.of(id.self) }

// readSpares reads how many of a job's processes are spares. Under "banyan run" there are none:
// it starts replacements itself, and says so.
func readSpares(procs int) (int, error) {
	text := os.Getenv(env.Spares)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s=%.100q must be a number of processes", env.Spares, text)
	}
	if n >= procs {
		return 0, fmt.Errorf("%s=%d of %d processes leaves none for the job", env.Spares, n, procs)
	}
	return n, nil
}

var (
	errNoLauncher = errors.New(env.Incarnations + " is set, but there is no launcher that replaces processes")
	errNoReplicas = errors.New(env.Spares + " is set, but no rank has replicas: no process could give its state to a spare")
)
