package file

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Size is the number of bytes of the file.
func (f *File) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// SetSize cuts the file, or makes it longer. All members call it.
func (f *File) SetSize(size int64) error {
	return f.byFirst(func() error { return f.f.Truncate(size) })
}

// Preallocate sees to it that there is room on the disk for the first bytes of the file. All
// members call it.
func (f *File) Preallocate(size int64) error {
	return f.byFirst(func() error {
		for {
			err := unix.Fallocate(int(f.f.Fd()), 0, 0, size)
			switch {
			case size == 0:
				return nil
			case errors.Is(err, unix.EINTR):
				continue
			case errors.Is(err, unix.EOPNOTSUPP):
				return f.fill(size)
			case err != nil:
				return &os.PathError{Op: "preallocate", Path: f.name, Err: err}
			}
			return nil
		}
	})
}

// fill writes zeros from the end of the file on, where the system can't reserve room: holes before
// it stay holes.
func (f *File) fill(size int64) error {
	at, err := f.Size()
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for at < size {
		n := min(size-at, int64(len(zeros)))
		if _, err := f.f.WriteAt(zeros[:n], at); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// byFirst has rank 0 do something when all have come, and all have its error.
func (f *File) byFirst(do func() error) error {
	if err := f.comm.Barrier().Run(); err != nil {
		return err
	}
	var own error
	if f.comm.Rank() == 0 {
		own = do()
	}
	failed, err := f.together(own)
	if err != nil {
		return err
	}
	return failed
}

// Sync writes back to the disk what this rank has written, also as an aggregator. All members call
// it.
func (f *File) Sync() error {
	var own error
	if f.write {
		if own = f.f.Sync(); errors.Is(own, syscall.EINVAL) {
			own = nil // a device that keeps nothing back
		}
	}
	failed, err := f.together(own)
	if err != nil {
		return err
	}
	return failed
}

// Delete removes a file.
func Delete(name string) error {
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return &os.PathError{Op: "delete", Path: name, Err: syscall.EISDIR}
	}
	if err != nil {
		return err
	}
	return os.Remove(name)
}
