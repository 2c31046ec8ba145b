package join

import (
	"errors"
	"io"
	"os"
	"sync/atomic"

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
	memory [2]*os.File
	begin  env.RollbackStart
	slot   atomic.Int32 // to be written next
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
	case j.layout.Replicated():
		return nil, errors.New(env.Rollback + " is set, but ranks have replicas")
	}
	s := &snapshots{begin: begin}
	for i, fd := range fds {
		unix.CloseOnExec(fd)
		s.memory[i] = os.NewFile(uintptr(fd), "snapshot")
	}
	j.snapshots = s
	said := mailbox.New(func(m control.Message) { l.lifeline.Send(m) })
	return &engine.Rollback{
		Epoch: rollback.Epoch(begin.Epoch), From: rollback.Snapshot(begin.Snapshot),
		Report: func(r rollback.Report) { said.Put(control.Message{Type: control.SnapshotReport, Report: &r}) },
		Noted:  func(opaque bool) { said.Put(control.Message{Type: control.AtSafepoint, Opaque: opaque}) },
		Save:   s.save, Load: s.load, Grace: 2 * j.lossGrace(),
	}, nil
}

// save keeps this process's part of a snapshot.
func (s *snapshots) save(_ rollback.Snapshot, stream *state.Encoder) error {
	const piece = 4 << 20
	to := s.memory[s.slot.Load()]
	at := int64(0)
	for b := stream.Next(piece); b != nil; b = stream.Next(piece) {
		n, err := to.WriteAt(b, at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return to.Truncate(at)
}

// load gives the part with which this process begins.
func (s *snapshots) load(rollback.Snapshot) (io.Reader, error) {
	from := s.memory[s.begin.Slot]
	info, err := from.Stat()
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(from, 0, info.Size()), nil
}
