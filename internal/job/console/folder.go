package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Folder is where the sockets of a user's jobs are on this host, and what is kept of jobs that
// have ended.
type Folder string

// socketSuffix is that of a job's socket. maxPath is how long a socket's path may be.
const (
	socketSuffix = ".sock"
	maxPath      = 107
)

// candidates are the folders that there may be, best first.
func candidates(getenv func(string) string, uid int, temporary string) (all []Folder) {
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, Folder(filepath.Join(dir, "banyan")))
	}
	return append(all, Folder(fmt.Sprintf("/run/user/%d/banyan", uid)), Folder(filepath.Join(temporary, fmt.Sprintf("banyan-%d", uid))))
}

// Folders are the folders that are there, in the order of preference. A command that looks for a
// job must look into all: the job may have been started where XDG_RUNTIME_DIR is set to something
// else, as in a batch system.
func Folders() (all []Folder) {
	for _, f := range candidates(os.Getenv, os.Geteuid(), os.TempDir()) {
		if f.check() == nil && (len(all) == 0 || all[0] != f) {
			all = append(all, f)
		}
	}
	return all
}

// MakeFolder returns the folder for new jobs: $XDG_RUNTIME_DIR/banyan, else /run/user/UID/banyan,
// else banyan-UID in the directory for temporary files. It is made if it isn't there.
func MakeFolder() (Folder, error) {
	var errs []error
	for _, f := range candidates(os.Getenv, os.Geteuid(), os.TempDir()) {
		err := f.make()
		if err == nil {
			return f, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("there is no folder for the sockets of jobs: %w", errors.Join(errs...))
}

// make makes the folder, unless it is there.
func (f Folder) make() error {
	if len(f)+1+maxName+len(socketSuffix) > maxPath {
		return fmt.Errorf("%s is too long for sockets in it", f)
	}
	if err := os.Mkdir(string(f), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.check()
}

// check refuses a folder that others can get into. Below /tmp another user may have made it.
func (f Folder) check() error {
	info, err := os.Lstat(string(f))
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", f)
	case int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user", f)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s must be accessible to its owner alone: chmod 700 %s", f, f)
	}
	return nil
}

func (f Folder) socket(name string) string { return f.file(name, socketSuffix) }

func (f Folder) file(name, suffix string) string { return filepath.Join(string(f), name+suffix) }

// names are those of the jobs with a file of this suffix.
func (f Folder) names(suffix string) (names []string) {
	entries, _ := os.ReadDir(string(f)) // of a folder that has gone: none
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && validName(name) {
			names = append(names, name)
		}
	}
	return names
}
