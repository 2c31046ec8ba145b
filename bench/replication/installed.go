package replication

import (
	"fmt"
	"os"
	"path/filepath"
)

// Installed is the directory of Banyan's programs. "make build" puts all of them there, and "go
// build" only the command.
type Installed string

// Applications are the project's own, which do a share of their usual work. matrix is the file
// that cg solves; without a name it is the demo's, in the source tree.
func (bin Installed) Applications(matrix string, share int) ([]Application, error) {
	if matrix == "" {
		matrix = filepath.Join(string(bin), "..", "examples", "cg", "data", "bcsstk16.mtx.gz")
	}
	all := Applications(func(name string) string { return filepath.Join(string(bin), name) }, matrix, share)
	for _, a := range all {
		if _, err := os.Stat(a.Command[0]); err != nil {
			return nil, fmt.Errorf("there is no %s in %s, beside the command: is Banyan built (make build)?", filepath.Base(a.Command[0]), bin)
		}
	}
	if _, err := os.Stat(matrix); err != nil {
		return nil, fmt.Errorf("the matrix that cg solves: %w", err)
	}
	return all, nil
}

// MPICC is the compiler, or "" if the library for C isn't built.
func (bin Installed) MPICC() string {
	if _, err := os.Stat(filepath.Join(string(bin), "libmpi_abi.so")); err != nil {
		return ""
	}
	return filepath.Join(string(bin), "mpicc")
}
