package agent

import (
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tap reads a pipe, and knows whether everything that was written to it so far has been read and
// passed on. The bytes of a Read count as passed on when the next Read begins.
type tap struct {
	file *os.File
	raw  syscall.RawConn

	mu    sync.Mutex
	taken bool // the last Read has taken bytes that aren't passed on yet
}

func newTap(f *os.File) (*tap, error) {
	raw, err := f.SyscallConn()
	return &tap{file: f, raw: raw}, err
}

// Read implements io.Reader.
func (t *tap) Read(b []byte) (n int, err error) {
	t.mu.Lock()
	t.taken = false
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
		t.taken = n > 0
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

// drainPause is how often Drained looks.
const drainPause = time.Millisecond

// Drained implements Output.
func (t *tap) Drained(stop <-chan struct{}) bool {
	for !t.drained() {
		select {
		case <-stop:
			return false
		case <-time.After(drainPause):
		}
	}
	return true
}

// drained says whether everything that was written before the call is passed on. It is meaningful
// only while the process writes nothing.
func (t *tap) drained() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, _ := unread(t.raw) // of a closed pipe 0: it has ended
	return !t.taken && n == 0
}

// unread is the number of bytes in a pipe, asked at either of its ends.
func unread(end syscall.RawConn) (n int, err error) {
	asked := end.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	if asked != nil {
		return 0, asked
	}
	return n, os.NewSyscallError("ioctl", err)
}

// Close implements io.Closer.
func (t *tap) Close() error { return t.file.Close() }
