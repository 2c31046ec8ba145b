package agent

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
)

// Snapshots of processes are kept in memory that has no name: the kernel frees it when the agent
// ends, and nothing is left. A process writes its own; the agent keeps both versions for the next
// process with its number, and copies for other hosts.

// parts are the two versions of a process's snapshot.
type parts [2]*os.File

// partsOf gives the memory of a process's snapshots, and makes it if there is none.
func (l *Local) partsOf(p proto.Proc) (*parts, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.snapshots[p]; x != nil {
		return x, nil
	}
	x := new(parts)
	for i := range x {
		fd, err := unix.MemfdCreate("banyan-snapshot", unix.MFD_CLOEXEC)
		if err != nil {
			x.close()
			return nil, os.NewSyscallError("memfd_create", err)
		}
		x[i] = os.NewFile(uintptr(fd), "snapshot")
	}
	if l.snapshots == nil {
		l.snapshots = make(map[proto.Proc]*parts)
	}
	l.snapshots[p] = x
	return x, nil
}

func (x *parts) close() {
	for _, f := range x {
		if f != nil {
			f.Close()
		}
	}
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
	for _, file := range x {
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

// ReadPart implements SnapshotAgent.
func (l *Local) ReadPart(p proto.Proc, slot int) (io.ReadCloser, error) {
	x, err := l.partsOf(p)
	if err != nil {
		return nil, err
	}
	info, err := x[slot].Stat()
	if err != nil {
		return nil, err
	}
	return io.NopCloser(io.NewSectionReader(x[slot], 0, info.Size())), nil
}

// WritePart implements SnapshotAgent.
func (l *Local) WritePart(p proto.Proc, slot int) (io.WriteCloser, error) {
	x, err := l.partsOf(p)
	if err != nil {
		return nil, err
	}
	if err := x[slot].Truncate(0); err != nil {
		return nil, err
	}
	return partWriter{io.NewOffsetWriter(x[slot], 0)}, nil
}

type partWriter struct{ io.Writer }

func (partWriter) Close() error { return nil }
