package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"banyan/internal/determinism"
	"banyan/internal/launch"
	"banyan/internal/proto"
)

// The replicas of each rank make the same calls, with the same data, in whatever order
// the neighbours' values come: what banyan check looks for.
func TestSendDeterministic(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const ranks = 4
	for seed := range uint64(2) {
		dir := t.TempDir()
		report, err := launch.Run(launch.Config{
			Ranks: ranks, Replicas: 2, Program: program, Args: []string{"-tolerance", "1e-2", "data/bcsstk16.mtx.gz"},
			Env:   append(append(os.Environ(), asProgram+"=1"), determinism.Environment(dir, seed)...),
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: os.Stderr,
		})
		if err != nil {
			t.Fatal(err)
		}
		if report.ExitCode != 0 {
			t.Fatalf("exit code %d, %s", report.ExitCode, report.Reason)
		}
		c := determinism.Compare(determinism.Job{Dir: dir, Ranks: ranks, Procs: func(r int) []proto.Proc {
			return []proto.Proc{proto.Proc(r), proto.Proc(ranks + r)}
		}})
		defer c.Close()
		if _, err := c.Advance(); err != nil {
			t.Fatal(err)
		}
		s, err := c.Summary()
		if err != nil || len(s.Found) > 0 || s.Payloads.Calls() > 0 || s.Calls < 200 {
			t.Errorf("seed %d: %d calls alike, %d differ in data, %v, %v", seed, s.Calls, s.Payloads.Calls(), s.Found, err)
		}
	}
}
