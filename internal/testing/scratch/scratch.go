// Package scratch makes the directories in which tests of a package keep the programs that they
// build. A directory is there until Remove; if the tests were killed before that, the next tests
// that make one remove it. A directory is locked as long as its tests run, so that none is removed
// under them.
package scratch

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// prefix begins the names of all directories.
const prefix = "banyan-test-"

// youth is how old a directory is at least that others remove: until then it may not be locked yet.
const youth = time.Minute

// Directory is one of them.
type Directory struct {
	Path string
	lock *os.File
}

// Make makes a directory, and removes those that killed tests have left.
func Make() (*Directory, error) { return within(os.TempDir(), youth) }

func within(parent string, youth time.Duration) (*Directory, error) {
	sweep(parent, youth)
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	d := &Directory{Path: path}
	if d.lock, err = lock(path); err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	return d, nil
}

// Remove removes the directory and what it has. That of nil is none.
func (d *Directory) Remove() error {
	if d == nil {
		return nil
	}
	defer d.lock.Close()
	return os.RemoveAll(d.Path)
}

// lock holds a directory until the file is closed or this process has ended.
func lock(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, &os.PathError{Op: "flock", Path: path, Err: err}
	}
	return file, nil
}

// sweep removes the directories that nobody holds.
func sweep(parent string, youth time.Duration) {
	all, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, path := range all {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || time.Since(info.ModTime()) < youth {
			continue
		}
		if held, err := lock(path); err == nil {
			os.RemoveAll(path)
			held.Close()
		}
	}
}
