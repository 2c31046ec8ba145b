package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// files are those of a process to be started. After an error all methods do nothing.
type files struct {
	null   *os.File  // /dev/null
	theirs []uintptr // by the process's descriptor
	ours   []*os.File
	err    error // the first
}

// devNull makes the process's next descriptor /dev/null.
func (f *files) devNull() {
	if f.err == nil {
		f.theirs = append(f.theirs, f.null.Fd())
	}
}

// input makes the process's next descriptor a pipe to which we write.
func (f *files) input(asked bool) *input {
	ends := [2]int{}
	f.open("pipe2", func() error { return unix.Pipe2(ends[:], unix.O_CLOEXEC) })
	our := f.pair(ends[1], ends[0], "stdin")
	if f.err != nil {
		return nil
	}
	in := &input{file: our}
	in.raw, f.err = our.SyscallConn()
	if asked && f.err == nil {
		var fd int
		f.open("fcntl", func() (err error) { fd, err = unix.FcntlInt(uintptr(ends[0]), unix.F_DUPFD_CLOEXEC, 0); return })
		if f.err == nil {
			in.other = os.NewFile(uintptr(fd), "other end of stdin")
			f.ours = append(f.ours, in.other)
		}
	}
	return in
}

// output makes the process's next descriptor a pipe that we read.
func (f *files) output() (t *tap) {
	ends := [2]int{}
	f.open("pipe2", func() error { return unix.Pipe2(ends[:], unix.O_CLOEXEC) })
	our := f.pair(ends[0], ends[1], "output")
	if f.err == nil {
		t, f.err = newTap(our)
	}
	return t
}

// socket makes the process's next descriptor a connection to us.
func (f *files) socket() *os.File {
	ends := [2]int{}
	f.open("socketpair", func() (err error) {
		ends, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		return err
	})
	return f.pair(ends[0], ends[1], "socket")
}

// open makes a system call that opens files.
func (f *files) open(call string, do func() error) {
	if f.err == nil {
		f.err = os.NewSyscallError(call, do())
	}
}

// pair takes the ends of a connection over: theirs is the process's next descriptor, ours is read
// and written without blocking a thread.
func (f *files) pair(ours, theirs int, name string) *os.File {
	if f.err != nil {
		return nil
	}
	f.theirs = append(f.theirs, uintptr(theirs))
	f.open("fcntl", func() error { return nonblocking(ours) })
	our := os.NewFile(uintptr(ours), name)
	f.ours = append(f.ours, our)
	return our
}

// nonblocking has os.NewFile poll a descriptor that has no other flag.
func nonblocking(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_NONBLOCK)
	return err
}

// closeTheirs closes the process's ends: it has its own, or wasn't started.
func (f *files) closeTheirs() {
	for _, fd := range f.theirs {
		if fd != f.null.Fd() {
			unix.Close(int(fd))
		}
	}
}

// closeOurs closes our ends, of a process that wasn't started.
func (f *files) closeOurs() {
	for _, file := range f.ours {
		file.Close()
	}
}
