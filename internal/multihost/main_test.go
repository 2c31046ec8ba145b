package multihost_test

import (
	"os"
	"testing"

	"banyan/internal/multihost"
)

func TestMain(m *testing.M) {
	if code, done := multihost.Reexec(); done {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
