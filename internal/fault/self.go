package fault

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// Variable is the environment variable in which the launcher hands each process
// its own faults, as a plan.
const Variable = "BANYAN_FAULT"

// FromEnv returns the faults that this process is to carry out on itself, all
// with triggers AtSend. Normally there are none.
func FromEnv() ([]Event, error) {
	plan, err := Parse(os.Getenv(Variable))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Variable, err)
	}
	var events []Event
	for i, e := range plan.entries {
		if e.draw != nil || e.event.At.Kind != AtSend {
			return nil, fmt.Errorf("%s: %w", Variable,
				entryError(i, e.String(), fmt.Errorf("only faults at=send:N are for the process itself")))
		}
		events = append(events, e.event)
	}
	return events, nil
}

// ToEnv is the value of Variable for one process: its events at sends.
func ToEnv(events []Event, rank, replica int) string {
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

// Strike does to the calling process what the action says, by a signal, exactly
// here: after Kill it doesn't return, after Stop it returns when somebody
// continues the process.
func (a Action) Strike() error {
	// To this very thread: what is sent to the process another thread may take, and this one would
	// go on for a while.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return syscall.Tgkill(os.Getpid(), syscall.Gettid(), a.Signal())
}

// Signal is what carries out the action. There is none for Flip.
func (a Action) Signal() syscall.Signal {
	if a == Stop {
		return syscall.SIGSTOP
	}
	return syscall.SIGKILL
}
