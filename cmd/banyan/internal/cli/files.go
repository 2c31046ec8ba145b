package cli

import (
	"encoding/csv"
	"fmt"
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

// ReadCSV reads the lines of a CSV file, each as its fields. Errors name the file.
func ReadCSV(path string) (lines [][]string, err error) {
	err = ReadFile(path, func(r io.Reader) error {
		in := csv.NewReader(r)
		if lines, err = in.ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	return lines, err
}

// IsTerminal says whether a file is a terminal.
func IsTerminal(f *os.File) bool {
	s, err := f.Stat()
	return err == nil && s.Mode()&os.ModeCharDevice != 0
}
