package launcher

import (
	"errors"

	"banyan/internal/job/agent"
	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
)

// Parts of snapshots are copied from one agent to another, and to and from disk, while the
// processes go on. A copy may take longer than its snapshot counts: that was discarded, or another
// one was committed after it. No snapshot is taken into memory of which a copy is still under way
// (rollbackLead.copies): it would read two snapshots in one, or write over the later one.

// copyPart copies a part of a snapshot to another host, or to disk. The loop doesn't wait.
func (j *job) copyPart(a rollback.Action) {
	slot := j.back.taking.slot
	if a.Snapshot == j.back.committed.number {
		slot = j.back.committed.slot
	}
	at := func(x rollback.Place) partPlace {
		return partPlace{j.hosts.agents[x.Host].(agent.SnapshotAgent), x.Proc}
	} // checkRollback has seen to that
	rank, dir := j.layout.Rank(a.To.Proc), j.back.dir
	j.back.copies[slot]++
	if a.To.Host != rollback.Disk {
		j.keepsPart(int(a.To.Host), a.To.Proc)
	}
	copied := func(problem string) {
		j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) { c.Copied(a.Snapshot, a.To, problem, out) })
	}
	go func() {
		var err error
		travelled := int64(0)
		switch {
		case a.From.Host == rollback.Disk:
			err = dir.restore(a.Snapshot, rank, slot, at(a.To))
		case a.To.Host == rollback.Disk:
			err = dir.keep(a.Snapshot, rank, slot, at(a.From))
		default:
			travelled, err = transfer(slot, at(a.From), at(a.To))
		}
		j.post(func() {
			j.back.copies[slot]--
			if a.Snapshot == j.back.taking.number {
				j.back.costs.copied += travelled
			}
			switch {
			case errors.Is(err, agent.ErrHostLost): // that is told, and other hosts may have copies
			case err != nil:
				copied(err.Error())
			case a.To.Host == rollback.Disk:
				j.keptOnDisk(a, copied)
			default:
				copied("")
			}
		})
	}()
}

// keptOnDisk completes a snapshot on disk when all its parts are there: only then any of them
// counts.
func (j *job) keptOnDisk(a rollback.Action, copied func(problem string)) {
	r := j.back
	if a.Snapshot != r.taking.number {
		return
	}
	if r.onDisk++; r.onDisk < j.ranks {
		return
	}
	m := manifest{Number: uint64(a.Snapshot), Ranks: j.ranks, Command: j.command(), Output: r.taking.output}
	go func() {
		err := r.dir.complete(m)
		j.post(func() {
			if err != nil {
				copied(err.Error())
				return
			}
			for rank := range proto.Rank(j.ranks) {
				j.rewind(func(c *rollback.Coordinator, out *[]rollback.Action) {
					c.Copied(a.Snapshot, rollback.Place{Host: rollback.Disk, Proc: j.layout.Proc(rank, 0)}, "", out)
				})
			}
		})
	}()
}

// partPlace is where a part is: that of a process, with an agent.
type partPlace struct {
	agent.SnapshotAgent
	proc proto.Proc
}

// transfer copies what differs in a part of a snapshot from one place to another, and says how
// many bytes that was.
func transfer(slot int, from, to partPlace) (copied int64, err error) {
	has, err := from.PartDigests(from.proc, slot)
	if err != nil {
		return 0, err
	}
	had, err := to.PartDigests(to.proc, slot)
	if err != nil {
		return 0, err
	}
	changed := has.Changes(had)
	in, err := from.ReadPart(from.proc, slot, changed)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := to.WritePart(to.proc, slot, changed)
	if err != nil {
		return 0, err
	}
	if err := copyAll(out, in); err != nil {
		return 0, err
	}
	switch now, err := to.PartDigests(to.proc, slot); {
	case err != nil:
		return 0, err
	case !now.Equal(has):
		return 0, errors.New("the copy differs from what was copied")
	}
	return changed.Bytes(), nil
}
