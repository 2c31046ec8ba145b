package join

import (
	"bytes"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"banyan/internal/runtime/state"
)

// partMemory is memory of the agent in which this process keeps its part of a snapshot. It is
// mapped, and only what differs is written: memory that a program hasn't changed since the last
// part but one is there already. To compare takes no longer than to copy, and nothing has to
// know what the program writes.
type partMemory struct {
	file *os.File

	mu       sync.Mutex
	mapped   []byte // may reach beyond the file's end, for parts that grow
	reserved int64  // from the file's beginning: its pages are there
}

const (
	// comparedBlock is how much is compared and written at a time: a page, the least that any
	// program changes by itself.
	comparedBlock = 4 << 10
	// partPiece is how much of a part is summed before it is compared: it is in the cache then.
	partPiece = 64 << 10
)

// prepare makes room for parts of about this length: to make a page takes several times as long
// as to copy it, and would be done while the program stands. A memory that has a part keeps its
// length.
func (m *partMemory) prepare(length int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if info, err := m.file.Stat(); err == nil {
		if info.Size() > 0 {
			length = info.Size()
		}
		_ = m.room(length) // if it fails, the next part fails, and says so
	}
}

// room maps the memory, and sees to it that there are pages for a part of this length. Without
// that a host with too little memory would kill the process as it writes there.
func (m *partMemory) room(length int64) error {
	info, err := m.file.Stat()
	if err != nil {
		return err
	}
	m.reserved = min(m.reserved, info.Size()) // the agent has put a shorter part there
	if int64(len(m.mapped)) < length {
		if m.mapped != nil {
			if err := unix.Munmap(m.mapped); err != nil {
				return os.NewSyscallError("munmap", err)
			}
		}
		slack := length/8 + 1<<20
		if m.mapped, err = unix.Mmap(int(m.file.Fd()), 0, int(length+slack), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
			return os.NewSyscallError("mmap", err)
		}
		m.reserved = 0
	}
	if m.reserved < length {
		if err := unix.Fallocate(int(m.file.Fd()), 0, 0, length); err != nil {
			return os.NewSyscallError("fallocate", err)
		}
		m.reserved = length
		// An older kernel doesn't know this: it maps the pages one by one then, as they are
		// touched.
		_ = unix.Madvise(m.mapped[:length], unix.MADV_POPULATE_WRITE)
	}
	return nil
}

// keep replaces what the memory has by a part, and says how many bytes it had to write.
func (m *partMemory) keep(stream *state.Encoder) (changed int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	length := int64(stream.Len())
	if err := m.room(length); err != nil {
		return 0, fmt.Errorf("there is no memory for %d bytes: %w", length, err)
	}
	at := 0
	for b := stream.Next(partPiece); b != nil; b = stream.Next(partPiece) {
		for len(b) > 0 {
			n := min(len(b), comparedBlock-at%comparedBlock)
			if to := m.mapped[at : at+n]; !bytes.Equal(to, b[:n]) {
				changed += int64(copy(to, b))
			}
			at, b = at+n, b[n:]
		}
	}
	if info, err := m.file.Stat(); err == nil && info.Size() == length {
		return changed, nil
	}
	return changed, m.file.Truncate(length)
}
