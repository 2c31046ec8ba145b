package launcher

import (
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// tap reads a pipe, and knows whether all that was written to it so far has been read and
// passed on: that is, when the next Read is on its way.
type tap struct {
	file *os.File
	raw  syscall.RawConn

	mu   sync.Mutex
	held bool // a Read has taken something
}

func newTap(f *os.File) (*tap, error) {
	raw, err := f.SyscallConn()
	return &tap{file: f, raw: raw}, err
}

// Read implements io.Reader.
func (t *tap) Read(b []byte) (n int, err error) {
	t.mu.Lock()
	t.held = false
	t.mu.Unlock()
	wait := t.raw.Read(func(fd uintptr) bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		for {
			n, err = unix.Read(int(fd), b)
			if err != unix.EINTR {
				break
			}
		}
		t.held = n > 0
		return err != unix.EAGAIN
	})
	switch {
	case wait != nil:
		return 0, wait
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// drained says whether nothing is left that was written before the call. It means
// something only while nobody writes.
func (t *tap) drained() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.held && unread(t.raw) == 0
}

// unread is how many bytes wait in a pipe, whichever of its ends this is.
func unread(end syscall.RawConn) (n int) {
	end.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n
}

func (t *tap) Close() error { return t.file.Close() }
