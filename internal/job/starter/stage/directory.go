package stage

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"banyan/internal/job/jobdir"
)

// kind begins the names of all directories.
const kind = "banyan-stage-"

// MakeDirectory makes a directory from which programs can be executed. It removes those that jobs
// of this user have left whose agents were killed.
func MakeDirectory() (*jobdir.Directory, error) {
	var errs []error
	for _, parent := range parents() {
		err := executable(parent)
		if err == nil {
			var d *jobdir.Directory
			if d, err = jobdir.Make(parent, kind); err == nil {
				return d, nil
			}
		}
		errs = append(errs, err)
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

// RemoveLeft removes a directory whose owner has died. Nothing else is removed.
func RemoveLeft(path string) error { return jobdir.RemoveLeft(path, kind) }
