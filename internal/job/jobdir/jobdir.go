// Package jobdir makes directories that exist on a host as long as their owner: files that were
// sent there, traces. The owner holds a lock on its directory, which the kernel releases when the
// owner has ended in any way. The owner that makes the next directory of the kind removes those
// that nobody holds any more: what is left when an owner is killed together with the process that
// cleans up behind it, or when the host has lost its power.
//
// # Invariants
//
//   - A directory whose owner lives isn't removed by others.
//   - Only directories of this kind and this user are removed.
//
// # Limits
//
// If no next directory of the kind is made, what is left stays. A directory is left alone in its
// first minute: its owner may not have locked it yet.
package jobdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// youth is how old a directory is at least that another owner removes.
const youth = time.Minute

// Directory is one that exists until Remove.
type Directory struct {
	Path string
	lock *os.File
}

// Make makes a directory in another one, with a name that begins with the kind. It removes those of
// this kind and user that nobody holds.
func Make(parent, kind string) (*Directory, error) {
	sweep(parent, kind, time.Now().Add(-youth))
	path, err := os.MkdirTemp(parent, own(kind))
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

// own is how the names of this user's directories of a kind begin.
func own(kind string) string { return fmt.Sprint(kind, os.Getuid(), "-") }

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
func sweep(parent, kind string, before time.Time) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), own(kind)) || !info.IsDir() || info.ModTime().After(before) {
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

// RemoveLeft removes a directory of a kind whose owner has died. Nothing else is removed.
func RemoveLeft(path, kind string) error {
	if !strings.HasPrefix(filepath.Base(path), kind) {
		return fmt.Errorf("%s isn't a directory %s…", path, kind)
	}
	return os.RemoveAll(path)
}
