package launcher

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Several programs share a job. They have the ranks in their order, and each has its own arguments,
// environment and directory.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	sh := func(ranks int, env, script string) Part {
		return Part{Ranks: ranks, Program: "sh", Args: []string{"-c", script}, Env: append(os.Environ(), env), Dir: dir}
	}
	first, second := sh(2, "WHO=first", `echo $WHO $PMI_RANK of $PMI_SIZE`), sh(1, "WHO=second", `echo $WHO $PMI_RANK in $(pwd)`)
	o := run(t, Config{Ranks: first.Ranks, Program: first.Program, Args: first.Args, Env: first.Env, More: []Part{second}})
	for _, want := range []string{"first 0 of 3\n", "first 1 of 3\n", "second 2 in " + dir + "\n"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in %q", want, o.stdout)
		}
	}
	if o.report.Ranks != 3 || !strings.Contains(strings.Join(o.report.Command, " "), " : sh -c") {
		t.Errorf("%+v", o.report)
	}
}

func TestBadParts(t *testing.T) {
	for _, tc := range []struct {
		c    Config
		want string
	}{
		{Config{Ranks: 1, Program: "true", More: []Part{{Ranks: 0, Program: "true"}}}, "at least 1 rank of each program"},
		{Config{Ranks: 1, Program: "true", More: []Part{{Ranks: 1}}}, "program 2 of the job isn't given"},
		{Config{Ranks: 4000, Program: "true", More: []Part{{Ranks: 4000, Program: "true"}}}, "more than 4096 processes"},
		{Config{Ranks: 1, Program: "true", More: []Part{{Ranks: 1, Program: "true"}}, Transport: TransportInproc}, "several programs"},
		{Config{Ranks: 1, Program: "true", Dir: "/nowhere"}, "no directory to start in"},
		{Config{Ranks: 1, Program: "./true", Dir: t.TempDir()}, "no such program"},
		{Config{Ranks: 1, Program: "true", Bind: "socket"}, "can't be bound"},
		{Config{Ranks: 1, Program: "true", Limit: -1}, "time limit"},
	} {
		tc.c.Replicas = 1
		_, err := Run(tc.c)
		if e := (*StartError)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v", tc.c, err)
		}
	}
}

// A name with a slash is looked up in the directory where the program starts, and one without is
// looked up there after PATH.
func TestProgramInItsDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), []byte("#!/bin/sh\necho here\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"./here", "here"} {
		if o := run(t, Config{Program: name, Dir: dir}); o.stdout != "here\n" {
			t.Errorf("%s: %q %q", name, o.stdout, o.stderr)
		}
	}
}

func TestLimit(t *testing.T) {
	start := time.Now()
	o := run(t, Config{Ranks: 2, Program: "sleep", Args: []string{"60"}, Limit: 300 * time.Millisecond})
	if o.report.ExitCode != CodeTimedOut || o.report.Outcome != OutcomeTimedOut || !strings.Contains(o.stderr, "longer than its limit") {
		t.Errorf("%+v %q", o.report, o.stderr)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
