package replication

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseProgram(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bt.A.4", "cg.S.1", "solver"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]Application{
		"solver":                         {Name: "solver", Command: []string{"solver"}},
		" solver  -t 'a b' \"c\\\" d\" ": {Name: `solver -t a b c" d`, Command: []string{"solver", "-t", "a b", `c" d`}},
		"-n 8 solver x\\ y ''":           {Name: "solver x y ", Command: []string{"solver", "x y", ""}, Ranks: 8},
		"bt.A.4":                         {Name: "bt.A.4", Command: []string{"bt.A.4"}, Ranks: 4},
		"-n 9 bt.A.4":                    {Name: "bt.A.4", Command: []string{"bt.A.4"}, Ranks: 9},
	} {
		text = strings.Replace(text, want.Command[0], filepath.Join(dir, want.Command[0]), 1)
		got, err := ParseProgram(text)
		want.Command[0] = filepath.Join(dir, want.Command[0])
		if err != nil || got.Name != want.Name || !slices.Equal(got.Command, want.Command) || got.Ranks != want.Ranks || !got.Varies {
			t.Errorf("%s: %v, %+v", text, err, got)
		}
	}
	for text, want := range map[string]string{
		"":                           "want a program",
		"-n 4":                       "want a program",
		"-n":                         "want a number of ranks",
		"-n 1 true":                  "want 2 ranks at least",
		"-n x true":                  "want 2 ranks at least",
		"'solver":                    "a quote isn't closed",
		filepath.Join(dir, "none"):   "no such file",
		filepath.Join(dir, "cg.S.1"): "is built for 1 process",
	} {
		if _, err := ParseProgram(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
