// Package recovery tests that C and Fortran programs get back what deaths have taken: dead replicas
// are replaced, and jobs go back to snapshots and checkpoints. Package survival has the programs
// that go on with what is left.
package recovery

import (
	"os"
	"testing"

	"banyan/internal/testing/cprogram"
)

func TestMain(m *testing.M) { os.Exit(cprogram.Main(m)) }
