package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesAreCurrent(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("fortran/%s isn't current: run go generate ./fortran/...", name)
		}
	}
}

// Fixed form ends a line at 72 characters.
func TestHeaderFitsFixedForm(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(files["mpif.h"])) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != '!' && (len(line) > 72 || line[:6] != "      ") {
			t.Errorf("%q", line)
		}
	}
}
