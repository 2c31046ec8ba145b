package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asCommand makes the test's executable the command itself.
const asCommand = "BANYAN_TEST_AS_LINT"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// files are a module that has something for both kinds of analyzers.
var files = map[string]string{
	"go.mod": "module findings\n\ngo 1.26\n",
	"findings.go": `// Package findings has findings.
package findings

func Assigned(x int) int {
	x = x
	return x
}

func Unreachable() int {
	return 1
	return 2
}

func unused() {}
`,
	"findings_windows.go": "package findings\n\n//go:debug panicnil=1\n",
}

// What staticcheck finds and what vet finds comes with its analyzer's name, in files for another
// system, too, and the command fails.
func TestFindings(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lint := exec.Command(self, "./...")
	lint.Dir = dir
	lint.Env = append(os.Environ(), asCommand+"=1")
	out, err := lint.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
	for _, finding := range []string{
		"findings.go:5:2: self-assignment of x (assign)",
		"findings.go:5:2: self-assignment of x to x (SA4018)",
		"findings.go:11:2: unreachable code (unreachable)",
		"findings.go:14:6: func unused is unused (U1000)",
		"findings_windows.go:3:1: //go:debug directive only valid in package main or test (directive)",
	} {
		if !strings.Contains(string(out), finding) {
			t.Errorf("no %q", finding)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
