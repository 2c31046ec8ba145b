package agent

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// input is our end of a process's stdin. It knows how much the process has read: what was written
// and isn't in the pipe any more.
type input struct {
	file  *os.File
	raw   syscall.RawConn
	other *os.File // the process's end, too, to ask for what is in the pipe; nil: not asked

	mu      sync.Mutex // written and the pipe change together
	written int64
}

// Write implements io.Writer.
func (in *input) Write(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	wait := in.raw.Write(func(fd uintptr) bool {
		in.mu.Lock()
		defer in.mu.Unlock()
		for n < len(b) {
			var k int
			k, err = unix.Write(int(fd), b[n:])
			switch {
			case err == nil:
				n += k
				in.written += int64(k)
			case err == unix.EINTR:
			default:
				return err != unix.EAGAIN
			}
		}
		return true
	})
	switch {
	case wait != nil:
		return n, wait
	case err != nil:
		return n, os.NewSyscallError("write", err)
	}
	return n, nil
}

// Taken implements Input. After the process was reaped it fails.
func (in *input) Taken() (int64, error) {
	if in.other == nil {
		return 0, os.ErrInvalid
	}
	end, err := in.other.SyscallConn()
	if err != nil {
		return 0, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	unread, err := unread(end)
	return in.written - int64(unread), err
}

// Close implements io.Closer.
func (in *input) Close() error { return in.file.Close() }

// reaped says that the process has ended.
func (in *input) reaped() {
	if in != nil {
		in.other.Close() // does nothing for a nil File
	}
}
