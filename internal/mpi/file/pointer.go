package file

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"banyan/internal/mpi/comm"
)

// pointer is a shared file pointer, in etypes.
type pointer interface {
	add(n int64, by caller) (before int64, err error)
	set(n int64, by caller) error
	get() (int64, error)
	// close ends its use here. The last to use it removes what is left of it.
	close(last bool)
}

// memoryPointer is the pointer of ranks that share memory. A rank that dies leaves it whole.
type memoryPointer struct {
	n      *atomic.Int64
	window *comm.Window // nil: of one rank
}

func (p *memoryPointer) add(n int64, _ caller) (int64, error) { return p.n.Add(n) - n, nil }
func (p *memoryPointer) set(n int64, _ caller) error          { p.n.Store(n); return nil }
func (p *memoryPointer) get() (int64, error)                  { return p.n.Load(), nil }
func (p *memoryPointer) close(bool) {
	if p.window != nil {
		p.window.Close()
	}
}

// filePointer is the pointer of ranks on several hosts: a small hidden file beside the file, which
// is made when it is needed first, and has the pointer in it. The system's locks exclude the
// ranks, and go with a rank that dies.
type filePointer struct {
	path string

	mu sync.Mutex
	f  *os.File
}

// with calls change with the pointer, and stores what it returns.
func (p *filePointer) with(exclusive bool, change func(n int64) int64) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		if p.f, err = os.OpenFile(p.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			p.f = nil
			return err
		}
	}
	d := disk{f: p.f}
	unlock, err := d.lock([]Run{{0, 8}}, exclusive)
	if err != nil {
		return err
	}
	defer unlock()
	var b [8]byte
	if _, err = p.f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	was := int64(binary.LittleEndian.Uint64(b[:]))
	now := change(was)
	if now == was {
		return nil
	}
	binary.LittleEndian.PutUint64(b[:], uint64(now))
	if _, err = p.f.WriteAt(b[:], 0); err != nil {
		return err
	}
	return unix.Fdatasync(int(p.f.Fd())) // over NFS others see it when it is written back
}

func (p *filePointer) add(n int64, _ caller) (before int64, err error) {
	err = p.with(true, func(was int64) int64 {
		before = was
		return was + n
	})
	return before, err
}

func (p *filePointer) set(n int64, _ caller) error {
	return p.with(true, func(int64) int64 { return n })
}

func (p *filePointer) get() (n int64, err error) {
	err = p.with(false, func(was int64) int64 {
		n = was
		return was
	})
	return n, err
}

func (p *filePointer) close(last bool) {
	if p.f != nil {
		p.f.Close()
	}
	if last {
		os.Remove(p.path)
	}
}
