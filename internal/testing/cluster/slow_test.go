package cluster_test

import (
	"os"
	"slices"
	"testing"

	"banyan/internal/testing/cluster"
)

// gate keeps a program from ending before a test has done to its job what it wants: heat and cg
// compute slowly, for nearly a minute, until it is opened. Then they compute as fast as the
// machine lets them. What they send and print stays the same.
type gate struct {
	t    *testing.T
	file string // which opens it; all hosts see it
}

// slowly has jobs that the test starts on a cluster from now on wait at a gate.
func slowly(t *testing.T, c *cluster.Cluster) *gate {
	t.Helper()
	g := &gate{t, c.File(t, "gate")}
	c.Setenv(t, "SLOW_UNTIL", g.file) // testdata/slow.c reads it
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
