// Package survival tests that C and Fortran programs outlive the deaths of their processes: by
// replicas in both orders, by snapshots, and by handling them (ULFM).
package survival

import (
	"os"
	"testing"

	"banyan/internal/testing/cprogram"
)

func TestMain(m *testing.M) { os.Exit(cprogram.Main(m)) }
