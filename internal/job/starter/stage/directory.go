package stage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// prefix begins the names of all directories.
const prefix = "banyan-stage-"

// youth is how old a directory is at least that another job removes: until then its owner may not
// have locked it yet.
const youth = time.Minute

// Directory is a job's directory on this host, which exists until Remove.
type Directory struct {
	Path string
	lock *os.File
}

// MakeDirectory makes a directory from which programs can be executed. It removes those that jobs
// of this user have left whose agents were killed.
func MakeDirectory() (*Directory, error) {
	var errs []error
	for _, parent := range parents() {
		if err := executable(parent); err != nil {
			errs = append(errs, err)
			continue
		}
		sweep(parent, time.Now().Add(-youth))
		path, err := os.MkdirTemp(parent, fmt.Sprint(prefix, os.Getuid(), "-"))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		d := &Directory{Path: path}
		if d.lock, err = lock(path); err != nil {
			os.RemoveAll(path)
			return nil, err
		}
		return d, nil
	}
	return nil, fmt.Errorf("there is no directory for the job's files: %w", errors.Join(errs...))
}

// parents are where the directory may be.
func parents() (all []string) {
	all = append(all, os.TempDir(), "/tmp")
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" {
		all = append(all, run)
	}
	return append(all, "/dev/shm")
}

// executable says why programs can't be executed from a directory.
func executable(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if s.Flags&unix.ST_NOEXEC != 0 {
		return fmt.Errorf("%s is mounted noexec", dir)
	}
	return nil
}

// lock holds a directory until the file is closed, or this process has ended.
func lock(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, &os.PathError{Op: "flock", Path: path, Err: err}
	}
	return file, nil
}

// sweep removes directories of this user that nobody holds, and that are older than a time.
func sweep(parent string, before time.Time) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), fmt.Sprint(prefix, os.Getuid(), "-")) || !info.IsDir() || info.ModTime().After(before) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		if l, err := lock(path); err == nil {
			os.RemoveAll(path) // another user's isn't removed: its sticky parent forbids it
			l.Close()
		}
	}
}

// Remove removes the directory.
func (d *Directory) Remove() error {
	err := os.RemoveAll(d.Path)
	d.lock.Close()
	return err
}

// RemoveLeft removes a directory whose owner has died. Nothing else is removed.
func RemoveLeft(path string) error {
	if !strings.HasPrefix(filepath.Base(path), prefix) {
		return fmt.Errorf("%s is no job's directory", path)
	}
	return os.RemoveAll(path)
}
