package launcher

import (
	"log/slog"

	"banyan/internal/job/agent"
	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
)

// Processes move to other hosts, and so do second copies of their parts. What a host has kept for a
// process is as large as its state, twice. So when a snapshot is committed, hosts free what neither
// it nor a process there needs.

// partAt is where there may be parts of a process's snapshots.
type partAt struct {
	host int
	proc proto.Proc
}

// keepsPart notes that a host may have parts of a process's snapshots from now on.
func (j *job) keepsPart(host int, p proto.Proc) { j.back.kept[partAt{host, p}] = struct{}{} }

// freeParts has hosts free the parts that are of no use any more. Until that is done there is no
// snapshot, and no process starts again: it may get the same memory.
func (j *job) freeParts() {
	r := j.back
	if r.copies != [2]int{} {
		return // one may be on its way to such a place: the next commit frees it
	}
	living := j.hosts.living()
	for at := range r.kept {
		if j.procs[at.proc].host == at.host || r.Holds(rollback.Place{Host: rollback.Host(at.host), Proc: at.proc}) {
			continue
		}
		delete(r.kept, at)
		if !living[at.host] {
			continue
		}
		a := j.hosts.agents[at.host].(agent.SnapshotAgent) // checkRollback has seen to that
		r.freeing++
		go func() {
			for slot := range r.copies {
				w, err := a.WritePart(at.proc, slot, nil) // nothing is written there
				if err == nil {
					err = w.Close()
				}
				if err != nil {
					slog.Debug("a part isn't freed", "process", at.proc, "host", at.host, "err", err)
				}
			}
			j.post(func() {
				r.freeing--
				j.startAgain()
			})
		}()
	}
}
