package join

import (
	"errors"

	"golang.org/x/sys/unix"
)

// input is what could be read from stdin at a moment. Under another launcher nobody knows how
// much a program has read, and a spare process gets nothing of it. What is seen here is that there is
// less than there was.
type input struct {
	position int64 // in a file
	waiting  int   // bytes in a pipe or a terminal
}

func lookAtInput() (i input) {
	// Where either can't be asked it is 0 for ever.
	if position, err := unix.Seek(0, 0, unix.SEEK_CUR); err == nil {
		i.position = position
	}
	if n, err := unix.IoctlGetInt(0, unix.TIOCINQ); err == nil {
		i.waiting = n
	}
	return i
}

// errInput is why a program that has read input can't be given to a spare process.
var errInput = errors.New("its program has read input, of which a spare process has none")

// unread returns errInput if something has been read since.
func (i input) unread() error {
	if now := lookAtInput(); now.position != i.position || now.waiting < i.waiting {
		return errInput
	}
	return nil
}
