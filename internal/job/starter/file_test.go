package starter

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/starter/stage"
)

// asked notes what an agent is to start.
type asked struct {
	agent.Agent
	spec agent.Spec
}

func (a *asked) Start(specs []agent.Spec) ([]agent.Process, error) {
	a.spec = specs[0]
	return nil, nil
}

// A host that lacks files, or the directory, gets them. One that has all gets no directory. What
// was sent runs where the console's would.
func TestStage(t *testing.T) {
	console := t.TempDir()
	write := func(dir, name, text string) string {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const text = "#!/bin/sh\ncat in/data\npwd\n"
	program, data := write(console, "program", text), write(console, "in/data", "data\n")
	sum := func(path string) string {
		s, err := stage.Sum(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	key := secure.NewKey()
	server, err := stage.Serve(key, map[string]string{sum(program): program, sum(data): data})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for name, tc := range map[string]struct {
		program, data string // on the host; empty: there is none
		noDir         bool
		staged, work  bool
	}{
		"all is there":         {text, "data\n", false, false, false},
		"another program":      {"#!/bin/sh\nexit 1\n", "data\n", false, true, false},
		"no program":           {"", "data\n", false, true, false},
		"no data":              {text, "", false, true, true},
		"nothing":              {"", "", false, true, true},
		"not even a directory": {"", "", true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			host := t.TempDir()
			if tc.program != "" {
				write(host, "program", tc.program)
			}
			if tc.data != "" {
				write(host, "in/data", tc.data)
			}
			if tc.noDir {
				os.RemoveAll(host)
			}
			o := Order{Dir: host, Stage: []string{fmt.Sprint("127.0.0.1:", server.Port())}, Files: []File{
				{Path: "./program", Sum: sum(program), Mode: 0o755}, {Path: "in/data", Sum: sum(data), Mode: 0o644, Role: Companion}}}
			var claimed string
			s, err := o.stage(t.Context(), 3, key, func(dir string) { claimed = dir })
			if err != nil {
				t.Fatal(err)
			}
			if (s.directory != nil) != tc.staged || (claimed != "") != tc.staged || (s.agent.Work != "") != tc.work {
				t.Errorf("staged %v, claimed %q, to start in %q", s.directory != nil, claimed, s.agent.Work)
			}
			a := &asked{}
			s.wrap(a).Start([]agent.Spec{{Path: "./program"}})
			cmd := exec.Command(a.spec.Path)
			cmd.Dir = a.spec.Dir
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "data\n") || tc.work != strings.Contains(string(out), "/work") {
				t.Errorf("%v: %s", err, out)
			}
			for sum, path := range s.files { // a head serves them
				if got, err := stage.Sum(path); err != nil || got != sum {
					t.Errorf("%s: %v", path, err)
				}
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(tmp, "*stage*")); len(left) > 0 {
				t.Errorf("left: %s", left)
			}
		})
	}
}

// A file that the console doesn't give is named, and nothing is left.
func TestStageFails(t *testing.T) {
	key := secure.NewKey()
	server, err := stage.Serve(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	o := Order{Dir: tmp, Stage: []string{fmt.Sprint("127.0.0.1:", server.Port())}, Files: []File{{Path: "./program", Sum: strings.Repeat("ab", 32), Mode: 0o755}}}
	if _, err := o.stage(t.Context(), 3, key, nil); err == nil || !strings.Contains(err.Error(), "./program didn't come: ") {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*stage*")); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
}
