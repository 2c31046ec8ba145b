package agent

import (
	"golang.org/x/sys/unix"

	"banyan/internal/counters"
)

// Counting is a process that counts for those who watch it.
type Counting interface {
	// Counters is what the process has counted; ok is false if that isn't known. It doesn't wait:
	// what another host's process counts may be a second or two old.
	Counters() (r counters.Record, ok bool)
}

// counts is the memory in which a process counts. It has no name: the kernel frees it when agent
// and process have ended.
type counts struct {
	memory []byte
	page   *counters.Page
}

// counters makes the process's next descriptor memory to count in. Without it the process counts
// for nobody.
func (f *files) counters() *counts {
	if f.err != nil {
		return nil
	}
	fd := -1
	f.open("memfd_create", func() (err error) {
		fd, err = unix.MemfdCreate("banyan-counters", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		return err
	})
	if f.err != nil {
		return nil
	}
	f.theirs = append(f.theirs, uintptr(fd))
	f.open("ftruncate", func() error { return unix.Ftruncate(fd, counters.Size) })
	// A process that cut the memory off would kill the agent, which reads there.
	f.open("fcntl", func() (err error) {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
		return err
	})
	c := &counts{}
	f.open("mmap", func() (err error) {
		c.memory, err = unix.Mmap(fd, 0, counters.Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return err
	})
	if f.err != nil {
		return nil
	}
	c.page, f.err = counters.On(c.memory)
	return c
}

// Counters implements Counting.
func (p *localProcess) Counters() (r counters.Record, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts.read()
}

// read reads them.
func (c *counts) read() (r counters.Record, ok bool) {
	if c == nil || c.page == nil {
		return r, false
	}
	return c.page.Read()
}

// ask asks for a span.
func (c *counts) ask(s *counters.Span) bool { return c != nil && c.page != nil && c.page.Ask(s) }

// unmap gives the memory back.
func (c *counts) unmap() {
	if c != nil && c.page != nil {
		c.page = nil
		unix.Munmap(c.memory)
	}
}
