// Package survival tests that C and Fortran programs outlive the deaths of their processes with
// what is left: by replicas in both orders, and by handling them (ULFM). Package recovery has those
// that are healed, or go back.
package survival

import (
	"os"
	"testing"

	"banyan/internal/testing/cprogram"
)

func TestMain(m *testing.M) { os.Exit(cprogram.Main(m)) }
