package file

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// journalPointer is the shared pointer in a job with replicas: a small hidden file that also says
// who has changed it. A replica that changes the pointer for a sibling that has died sees whether
// the sibling had. The head of the file is the last change; each rank's last one but that is in a
// table behind it. A change is one write of the head, which a death doesn't cut: it is short, and
// lies in one page.
type journalPointer struct {
	path string
	sync bool // hosts share the file, and one may die

	mu sync.Mutex
	f  *os.File
}

// change is one change of the pointer.
type change struct {
	rank          uint64 // and one; 0: there was none
	number, step  uint64
	before, after int64
}

const changeSize = 40

func (c *change) encode(b []byte) {
	for i, n := range []uint64{c.rank, c.number, c.step, uint64(c.before), uint64(c.after)} {
		binary.LittleEndian.PutUint64(b[8*i:], n)
	}
}

func (c *change) decode(b []byte) {
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	*c = change{n(0), n(1), n(2), int64(n(3)), int64(n(4))}
}

func (c *change) by(by caller) bool {
	return c.rank == uint64(by.rank)+1 && c.number == by.number && c.step == by.step
}

// read reads a change; the end of the file is none.
func (p *journalPointer) read(at int64) (c change, err error) {
	var b [changeSize]byte
	if _, err = p.f.ReadAt(b[:], at); err != nil && !errors.Is(err, io.EOF) {
		return c, err
	}
	c.decode(b[:])
	return c, nil
}

func (p *journalPointer) write(c change, at int64) error {
	var b [changeSize]byte
	c.encode(b[:])
	_, err := p.f.WriteAt(b[:], at)
	return err
}

// place is where a rank's change is in the table.
func place(rank uint64) int64 { return int64(64 * rank) }

// with calls do with the last change, under the system's lock.
func (p *journalPointer) with(do func(last change) error) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil {
		if p.f, err = os.OpenFile(p.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			p.f = nil
			return err
		}
	}
	d := disk{f: p.f}
	unlock, err := d.lock([]Run{{0, changeSize}}, true)
	if err != nil {
		return err
	}
	defer unlock()
	last, err := p.read(0)
	if err != nil {
		return err
	}
	return do(last)
}

// alter changes the pointer, unless the caller's sibling has. It returns what it was before.
func (p *journalPointer) alter(by caller, to func(was int64) int64) (before int64, err error) {
	err = p.with(func(last change) error {
		if by.again {
			done := last
			if !done.by(by) {
				if done, err = p.read(place(uint64(by.rank) + 1)); err != nil {
					return err
				}
			}
			if done.by(by) {
				before = done.before
				return nil
			}
		}
		if last.rank != 0 {
			if err := p.write(last, place(last.rank)); err != nil {
				return err
			}
		}
		before = last.after
		if err := p.write(change{uint64(by.rank) + 1, by.number, by.step, before, to(before)}, 0); err != nil || !p.sync {
			return err
		}
		return unix.Fdatasync(int(p.f.Fd()))
	})
	return before, err
}

func (p *journalPointer) add(n int64, by caller) (int64, error) {
	return p.alter(by, func(was int64) int64 { return was + n })
}

func (p *journalPointer) set(n int64, by caller) error {
	_, err := p.alter(by, func(int64) int64 { return n })
	return err
}

func (p *journalPointer) get() (n int64, err error) {
	err = p.with(func(last change) error {
		n = last.after
		return nil
	})
	return n, err
}

func (p *journalPointer) close(last bool) {
	if p.f != nil {
		p.f.Close()
	}
	if last {
		os.Remove(p.path)
	}
}
