package starter

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
)

// File is a program of the job.
type File struct {
	Path string // absolute, or relative to the directory to start in
	Sum  string // SHA-256, in hexadecimal digits
}

// check says what is wrong with the file here.
func (f File) check() error {
	path, err := exec.LookPath(f.Path)
	if err != nil {
		path = f.Path
	}
	switch sum, err := Sum(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s: copy it there, or use a file system that all hosts share", f.Path)
	case err != nil:
		return err
	case sum != f.Sum:
		return fmt.Errorf("%s isn't the program that the console has (SHA-256 %.12s…, and %.12s… at the console): copy it there", f.Path, sum, f.Sum)
	}
	return nil
}

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
