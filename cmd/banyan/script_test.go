package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"banyan":   func() { os.Exit(execute()) },
		"ring":     ring,
		"survivor": survivor,
	})
}

// TestScripts runs the command as a user would: each testdata/*.txtar is a
// session.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}
