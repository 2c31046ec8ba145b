package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"banyan/internal/mpi/comm"
)

// Size is the number of bytes of the file.
func (f *File) Size() (int64, error) {
	return f.once("stat", func(caller) (int64, error) { return f.length() })
}

// length is the number of bytes of the file, as this process sees it.
func (f *File) length() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// SetSize cuts the file, or makes it longer. All members call it.
func (f *File) SetSize(size int64) error {
	return f.byFirst(func(caller) error { return f.f.Truncate(size) })
}

// Preallocate sees to it that there is room on the disk for the first bytes of the file. All
// members call it.
func (f *File) Preallocate(size int64) error {
	return f.byFirst(func(caller) error {
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
	at, err := f.length()
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
func (f *File) byFirst(do func(by caller) error) error {
	if err := f.comm.Barrier().Run(); err != nil {
		return err
	}
	var own error
	if f.comm.Rank() == 0 {
		_, own = f.once("change", func(by caller) (int64, error) { return 0, do(by) })
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
		_, own = f.once("sync", func(caller) (int64, error) { return 0, f.f.Sync() })
		if errors.Is(own, syscall.EINVAL) {
			own = nil // a device that keeps nothing back
		}
	}
	failed, err := f.together(own)
	if err != nil {
		return err
	}
	return failed
}

// remove removes a file, which a sibling may have done.
func remove(name string, again bool) error {
	err := os.Remove(name)
	if again && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// DeleteOnce is Delete in a job with replicas. The communicator is of this rank alone, and for this
// only.
func DeleteOnce(c *comm.Comm, name string) error {
	f := &File{name: name, comm: c, copies: true}
	if _, err := f.named("delete", func(caller) (int64, error) { return 0, deletable(name) }); err != nil {
		return err
	}
	_, err := f.once("delete", func(by caller) (int64, error) { return 0, remove(name, by.again) })
	return err
}

// Delete removes a file.
func Delete(name string) error {
	if err := deletable(name); err != nil {
		return err
	}
	return os.Remove(name)
}

// deletable is why a file can't be deleted.
func deletable(name string) error {
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return &os.PathError{Op: "delete", Path: name, Err: syscall.EISDIR}
	}
	return err
}
