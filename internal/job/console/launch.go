package console

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// logSuffix is that of the file with what a launcher writes that isn't the job's output: nothing,
// unless it crashes.
const logSuffix = ".log"

// LaunchDescriptor is that of the first console's connection in a launcher which Launch has
// started.
const LaunchDescriptor = 3

// Launch starts a launcher as a process of its own session, which outlives this one and its
// terminal, and returns the connection of its first console. command is what becomes the launcher:
// it has the connection as LaunchDescriptor. Its stdin is the command's. It is the launcher of the
// job of this name.
func (f Folder) Launch(name string, command *exec.Cmd) (net.Conn, error) {
	log, err := os.OpenFile(f.file(name, logSuffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	here, there, err := socketpair()
	if err == nil {
		defer here.Close()
		defer there.Close()
		command.Stdout, command.Stderr, command.ExtraFiles = log, log, []*os.File{there}
		command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = command.Start()
	}
	if err != nil {
		f.RemoveLog(name)
		return nil, err
	}
	return net.FileConn(here)
}

// RemoveLog removes the launcher's log, when it ends in order.
func (f Folder) RemoveLog(name string) { os.Remove(f.file(name, logSuffix)) }

// LastWords returns what a launcher that has died wrote, if it wrote anything, and removes it, if
// it is shown. Without a Folder there is nothing: the launcher was on another machine.
func (f Folder) LastWords(name string, shown bool) string {
	if f == "" {
		return ""
	}
	text, err := os.ReadFile(f.file(name, logSuffix))
	if err != nil {
		return ""
	}
	if shown {
		f.RemoveLog(name)
	}
	return strings.TrimSpace(string(text))
}

// LeaveWord leaves a line as the last words about a job whose processes on this host have ended,
// with no launcher to say so.
func (f Folder) LeaveWord(name, line string) error {
	log, err := os.OpenFile(f.file(name, logSuffix), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(log, line)
	return errors.Join(err, log.Close())
}

// FirstConsole is the connection of the first console, in a launcher.
func FirstConsole() (net.Conn, error) {
	unix.CloseOnExec(LaunchDescriptor)
	file := os.NewFile(LaunchDescriptor, "console")
	defer file.Close()
	return net.FileConn(file)
}

// socketpair makes two ends of a connection.
func socketpair() (here, there *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "console"), os.NewFile(uintptr(fds[1]), "launcher"), nil
}

// pair makes a connection within this process.
func pair() (a, b net.Conn, err error) {
	here, there, err := socketpair()
	if err != nil {
		return nil, nil, err
	}
	defer here.Close()
	defer there.Close()
	if a, err = net.FileConn(here); err != nil {
		return nil, nil, err
	}
	if b, err = net.FileConn(there); err != nil {
		a.Close()
	}
	return a, b, err
}

// Pair makes a connection of this process, and its other end, for a command.
func Pair() (here net.Conn, there *os.File, err error) {
	mine, there, err := socketpair()
	if err != nil {
		return nil, nil, err
	}
	defer mine.Close()
	if here, err = net.FileConn(mine); err != nil {
		there.Close()
		return nil, nil, err
	}
	return here, there, nil
}
