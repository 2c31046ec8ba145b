package cli

import (
	"io"
	"os"
)

// WriteFile creates a file and has write fill it. It returns the first error.
func WriteFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// ReadFile opens a file and has read take what it needs. It returns the first error.
func ReadFile(path string, read func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return read(file)
}

// IsTerminal says whether a file is a terminal.
func IsTerminal(f *os.File) bool {
	s, err := f.Stat()
	return err == nil && s.Mode()&os.ModeCharDevice != 0
}
