package agent

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// Snapshots of processes are kept in memory that has no name: the kernel frees it when the agent
// ends, and nothing is left. A process writes its own; the agent keeps both versions for the next
// process with its number, and copies for other hosts.

// parts are the two versions of a process's snapshot.
type parts struct {
	files [2]*os.File

	mu sync.Mutex
	// theirs says that a process here has the memory, and may change it at any snapshot.
	theirs bool
	// known are the digests of what was copied here; nil: they have to be made.
	known [2]*PartDigests
}

// partsOf gives the memory of a process's snapshots, and makes it if there is none.
func (l *Local) partsOf(p proto.Proc) (*parts, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.snapshots[p]; x != nil {
		return x, nil
	}
	x := new(parts)
	for i := range x.files {
		fd, err := unix.MemfdCreate("banyan-snapshot", unix.MFD_CLOEXEC)
		if err != nil {
			x.close()
			return nil, os.NewSyscallError("memfd_create", err)
		}
		x.files[i] = os.NewFile(uintptr(fd), "snapshot")
	}
	if l.snapshots == nil {
		l.snapshots = make(map[proto.Proc]*parts)
	}
	l.snapshots[p] = x
	return x, nil
}

func (x *parts) close() {
	for _, f := range x.files {
		if f != nil {
			f.Close()
		}
	}
}

// given says that a process gets the memory.
func (x *parts) given() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.theirs, x.known = true, [2]*PartDigests{}
}

// snapshots makes the process's next two descriptors the memory of its snapshots.
func (f *files) snapshots(l *Local, p proto.Proc) {
	if f.err != nil {
		return
	}
	x, err := l.partsOf(p)
	if err != nil {
		f.err = err
		return
	}
	x.given()
	for _, file := range x.files {
		var fd int
		f.open("fcntl", func() (err error) {
			fd, err = unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
			return err
		})
		if f.err == nil {
			f.theirs = append(f.theirs, uintptr(fd))
		}
	}
}

// PartDigests implements SnapshotAgent.
func (l *Local) PartDigests(p proto.Proc, slot int) (PartDigests, error) {
	x, err := l.partsOf(p)
	if err != nil {
		return PartDigests{}, err
	}
	x.mu.Lock()
	known := x.known[slot]
	x.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	info, err := x.files[slot].Stat()
	if err != nil {
		return PartDigests{}, err
	}
	d, err := digest(x.files[slot], info.Size())
	if err == nil {
		x.note(slot, &d)
	}
	return d, err
}

// forget gives the digests of a version that is about to change, if they are known.
func (x *parts) forget(slot int) (had *PartDigests) {
	x.mu.Lock()
	defer x.mu.Unlock()
	had, x.known[slot] = x.known[slot], nil
	return had
}

// note keeps the digests of a version, if no process here may change it.
func (x *parts) note(slot int, d *PartDigests) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.theirs {
		x.known[slot] = d
	}
}

// ReadPart implements SnapshotAgent.
func (l *Local) ReadPart(p proto.Proc, slot int, some *PartBlocks) (io.ReadCloser, error) {
	x, err := l.partsOf(p)
	if err != nil {
		return nil, err
	}
	if some != nil {
		return &blockReader{from: x.files[slot], blocks: some}, nil
	}
	info, err := x.files[slot].Stat()
	if err != nil {
		return nil, err
	}
	return io.NopCloser(io.NewSectionReader(x.files[slot], 0, info.Size())), nil
}

// WritePart implements SnapshotAgent.
func (l *Local) WritePart(p proto.Proc, slot int, some *PartBlocks) (io.WriteCloser, error) {
	x, err := l.partsOf(p)
	if err != nil {
		return nil, err
	}
	had := x.forget(slot)
	file := x.files[slot]
	if some == nil {
		if err := file.Truncate(0); err != nil {
			return nil, err
		}
		return partWriter{io.NewOffsetWriter(file, 0)}, nil
	}
	if err := file.Truncate(some.Length); err != nil {
		return nil, err
	}
	return &blockWriter{to: file, blocks: some, closed: func(err error) error {
		if err != nil || had == nil {
			return err
		}
		d, err := digestAgain(file, *had, some)
		if err == nil {
			x.note(slot, &d)
		}
		return err
	}}, nil
}

type partWriter struct{ io.Writer }

func (partWriter) Close() error { return nil }
