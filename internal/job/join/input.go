package join

import (
	"errors"

	"golang.org/x/sys/unix"
)

// input is what could be read from stdin at a moment. Another launcher than "banyan run" doesn't
// know how much a program has read, and gives a spare process no input. This process only sees
// that there is less input than before.
type input struct {
	position int64 // in a file
	waiting  int   // bytes in a pipe or a terminal
}

func lookAtInput() (i input) {
	// What can't be asked stays 0.
	if position, err := unix.Seek(0, 0, unix.SEEK_CUR); err == nil {
		i.position = position
	}
	if n, err := unix.IoctlGetInt(0, unix.TIOCINQ); err == nil {
		i.waiting = n
	}
	return i
}

// errInput is why a process whose program has read input can't give its state to a spare process.
var errInput = errors.New("its program has read input, of which a spare process has none")

// unread returns errInput if the program has read something since.
func (i input) unread() error {
	if now := lookAtInput(); now.position != i.position || now.waiting < i.waiting {
		return errInput
	}
	return nil
}
