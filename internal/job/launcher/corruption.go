package launcher

import (
	"fmt"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
)

// CodeCorrupted is the exit code of a job whose replicas send different data, where
// nobody can say whose is right.
const CodeCorrupted = 125

// checkVerify refuses to compare where there is nothing to compare.
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

// corrupted kills a process that other replicas of its rank have outvoted, or that has taken
// in what was outvoted; or that has found out itself.
func (j *job) corrupted(by *process, m control.Message) {
	if !j.ledger.valid(m.Proc) {
		return
	}
	p := j.procs[m.Proc]
	e := &j.ledger.entries[p.id]
	if j.ending {
		return
	}
	// An error spreads before it is found: the first to be told isn't always where it began.
	if text := m.Text; !j.told[text] {
		j.told[text] = true
		j.warn(fmt.Sprintf("%s: %s", j.name(by), text))
	}
	if e.fenced || p.ended() {
		return // another one was quicker
	}
	e.fenced, e.outvoted, e.by = true, true, by.id
	p.signal(unix.SIGKILL)
}
