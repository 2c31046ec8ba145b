package cluster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// gate keeps a program from ending before a test has done to its job what it wants: heat and cg
// compute slowly, for nearly a minute, until it is opened. Then they compute as fast as the
// machine lets them. What they send and print stays the same.
type gate struct {
	t    *testing.T
	file string // which opens it; all hosts see it
}

var gates int

// slowly has jobs that the test starts from now on wait at a gate.
func slowly(t *testing.T) *gate {
	t.Helper()
	gates++
	g := &gate{t, filepath.Join(shared.Root, "bin", fmt.Sprintf("gate-%d-%d", os.Getpid(), gates))}
	t.Setenv("SLOW_UNTIL", g.file) // testdata/slow.c reads it
	t.Cleanup(func() { os.Remove(g.file) })
	return g
}

// program is heat or cg, behind the gate.
func (g *gate) program(argv []string) []string {
	if argv[0] != "bin/cg" {
		return argv
	}
	return slices.Insert(slices.Clone(argv), 1, "-slow-until", g.file)
}

// open lets the program go.
func (g *gate) open() {
	g.t.Helper()
	if err := os.WriteFile(g.file, nil, 0o600); err != nil {
		g.t.Fatal(err)
	}
}
