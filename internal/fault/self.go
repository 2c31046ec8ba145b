package fault

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// ParseOwn parses the faults that a process is to carry out on itself, as FormatOwn writes them:
// a plan whose triggers are all AtSend. An empty text has none.
func ParseOwn(text string) ([]Event, error) {
	plan, err := Parse(text)
	if err != nil {
		return nil, err
	}
	var events []Event
	for i, e := range plan.entries {
		if e.draw != nil || e.event.At.Kind != AtSend {
			return nil, entryError(i, e.String(), errors.New("only faults at=send:N are for the process itself"))
		}
		events = append(events, e.event)
	}
	return events, nil
}

// FormatOwn is what the launcher hands one process as its own faults: its events at sends.
func FormatOwn(events []Event, rank, replica int) string {
	var own []string
	for _, e := range events {
		if e.At.Kind == AtSend && e.Rank == rank && e.Replica == replica {
			own = append(own, e.String())
		}
	}
	return strings.Join(own, "; ")
}

// Flipped is a copy of data with one bit changed, in the middle. There must be data.
func Flipped(data []byte) []byte {
	wrong := bytes.Clone(data)
	wrong[len(wrong)/2] ^= 1 << 4
	return wrong
}

// Strike carries out the action on the calling process, by a signal, exactly here. After Kill it
// doesn't return. After Stop it returns when the process is continued.
func (a Action) Strike() error {
	// The signal goes to this thread. If it went to the process, another thread might take it, and
	// this one would go on for a while.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return syscall.Tgkill(os.Getpid(), syscall.Gettid(), a.Signal())
}

// Signal is the signal that carries out the action. Flip has none.
func (a Action) Signal() syscall.Signal {
	if a == Stop {
		return syscall.SIGSTOP
	}
	return syscall.SIGKILL
}
