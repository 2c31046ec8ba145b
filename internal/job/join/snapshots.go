package join

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/mailbox"
	"banyan/internal/proto/rollback"
	"banyan/internal/runtime/engine"
	"banyan/internal/runtime/state"
)

// snapshots are where this process keeps its part of a snapshot: memory of its agent, which
// outlives the process. The launcher says which of the two versions is to be written.
type snapshots struct {
	memory [2]*partMemory
	begin  env.RollbackStart
	slot   atomic.Int32 // to be written next
	begun  *partMemory  // that of the snapshot with which the process began, until it has taken another
	kept   control.Kept // what was kept last; the thread at the safe point has it
	said   *mailbox.Mailbox[control.Message]
}

// readRollback reads how this process takes part in snapshots, nil if none are taken.
func (j *Job) readRollback() (*engine.Rollback, error) {
	begin, is, err := env.ReadRollback()
	if !is {
		return nil, err
	}
	fds, is, err := env.TakeSnapshotFDs()
	l, launched := j.supervisor.(*launched)
	switch {
	case err != nil:
		return nil, err
	case !is || !launched:
		return nil, errors.New(env.Rollback + " is set, but there is no launcher that takes snapshots")
	}
	s := &snapshots{begin: begin}
	for i, fd := range fds {
		unix.CloseOnExec(fd)
		s.memory[i] = &partMemory{file: os.NewFile(uintptr(fd), "snapshot")}
	}
	j.snapshots = s
	said := mailbox.New(func(m control.Message) { l.lifeline.Send(m) })
	s.said = said
	return &engine.Rollback{
		Epoch: rollback.Epoch(begin.Epoch), From: rollback.Snapshot(begin.Snapshot),
		Report: func(r rollback.Report) {
			m := control.Message{Type: control.SnapshotReport, Report: &r}
			if r.Kind == rollback.Captured {
				m.Kept = new(s.kept)
			}
			said.Put(m)
		},
		Noted: func(opaque bool) { said.Put(control.Message{Type: control.AtSafepoint, Opaque: opaque}) },
		Save:  s.save, Load: s.load, Prepare: s.prepare, Grace: 2 * j.lossGrace(),
	}, nil
}

// save keeps this process's part of a snapshot.
func (s *snapshots) save(_ rollback.Snapshot, stream *state.Encoder) error {
	begun := time.Now()
	changed, err := s.memory[s.slot.Load()].keep(stream)
	s.kept = control.Kept{Bytes: int64(stream.Len()), Changed: changed, Took: time.Since(begun)}
	if s.begun != nil {
		go s.begun.prepare(0)
		s.begun = nil
	}
	return err
}

// quickPart is for how long a part room is made in some milliseconds: snapshots needn't wait.
const quickPart = 16 << 20

// prepare makes room for parts of about this length, beside the program, and then tells the
// launcher.
func (s *snapshots) prepare(length int64) {
	const library = 1 << 20  // at most, for most programs
	if length <= quickPart { // said before the program goes on from its first safe point
		s.said.Put(control.Message{Type: control.Prepared})
	}
	var all sync.WaitGroup
	for i, m := range s.memory {
		if s.begin.Snapshot > 0 && i == s.begin.Slot {
			s.begun = m // its part may still be on its way here
		} else {
			all.Go(func() { m.prepare(length + library) })
		}
	}
	if length > quickPart {
		go func() {
			all.Wait()
			s.said.Put(control.Message{Type: control.Prepared})
		}()
	}
}

// load gives the part with which this process begins.
func (s *snapshots) load(rollback.Snapshot) (io.Reader, error) {
	from := s.memory[s.begin.Slot].file
	info, err := from.Stat()
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(from, 0, info.Size()), nil
}
