package env

import (
	"fmt"
	"os"
)

// RollbackStart is with what a process of a job with snapshots begins.
type RollbackStart struct {
	Epoch    uint32 // how often the job has gone back
	Snapshot uint64 // the one to go on from; 0: the program begins
	Slot     int    // in which of the two memories it is
}

// FormatRollback is the value of Rollback.
func FormatRollback(s RollbackStart) string {
	return fmt.Sprintf("%d:%d:%d", s.Epoch, s.Snapshot, s.Slot)
}

// ReadRollback reads Rollback. is is false if no snapshots are taken.
func ReadRollback() (s RollbackStart, is bool, err error) {
	text := os.Getenv(Rollback)
	if text == "" {
		return s, false, nil
	}
	var rest string
	if n, _ := fmt.Sscanf(text+" .", "%d:%d:%d %s", &s.Epoch, &s.Snapshot, &s.Slot, &rest); n != 4 || rest != "." || s.Slot < 0 || s.Slot > 1 {
		return s, false, fmt.Errorf("%s=%.100q is no EPOCH:SNAPSHOT:SLOT", Rollback, text)
	}
	return s, true, nil
}

// TakeSnapshotFDs reads and removes SnapshotFDs. is is false if it isn't set.
func TakeSnapshotFDs() (fds [2]int, is bool, err error) { return takeFDs(SnapshotFDs) }
