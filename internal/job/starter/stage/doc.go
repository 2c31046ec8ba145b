// Package stage brings files to hosts that don't have them: the programs of a job, and what its
// user names.
//
//	server.go    serves files by their digests, to those that hold the job's key
//	fetch.go     fetches one
//	directory.go the directory of a job on a host that lacks something
//	agent.go     an agent whose processes find everything there
//
// # Invariants
//
//   - A file is used only if its SHA-256 is that of the console's.
//   - The directory is the user's alone (0700). Remove removes it; if its owner was killed the next
//     job of this user on this host does.
//
// # Limits
//
// A file that was interrupted is fetched again from its beginning.
package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// Sum is the SHA-256 of a file, in hexadecimal digits.
func Sum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
