package launcher

import (
	"fmt"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
)

// CodeCorrupted is the exit code of a job whose replicas send different data, if it can't be told
// which is right.
const CodeCorrupted = 125

// checkVerify refuses to compare if there is nothing to compare.
func (p *plan) checkVerify() error {
	switch {
	case !p.Verify:
	case !p.layout.Replicated():
		return fmt.Errorf("to verify is to compare replicas, and no rank has more than one")
	case p.Protocol == ProtocolMirror:
		return fmt.Errorf("the mirror protocol acknowledges nothing that could carry what is to be compared: verify takes the parallel one")
	}
	return nil
}

// corrupted kills a process that the other replicas of its rank have outvoted, that has received
// outvoted data, or that has found out itself.
func (j *job) corrupted(by *process, m control.Message) {
	if !j.ledger.valid(m.Proc) {
		return
	}
	p := j.procs[m.Proc]
	e := &j.ledger.entries[p.id]
	if j.ending {
		return
	}
	// An error spreads before it is found: the first process that tells it isn't always the one
	// where it began.
	j.warnOnce(m.Text, fmt.Sprintf("%s: %s", j.name(by), m.Text))
	if e.fenced || p.hasEnded() {
		return // another process was quicker
	}
	e.fenced, e.outvoted, e.by = true, true, by.id
	p.Signal(unix.SIGKILL)
}
