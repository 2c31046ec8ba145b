// Package test tests the C library with the C programs in testdata. It compiles them against
// abi/mpi.h, and starts them alone or with banyan run. Tests in which the point is that processes
// die are in package survival.
package test

import (
	"os"
	"testing"

	"banyan/internal/testing/cprogram"
)

func TestMain(m *testing.M) { os.Exit(cprogram.Main(m)) }
