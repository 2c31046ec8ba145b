package stage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/secure"
)

// file makes a file with some megabytes, and returns its path and digest.
func file(t *testing.T) (path, sum string) {
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes.Repeat([]byte("0123456789abcde\n"), 200_000), 0o644); err != nil {
		t.Fatal(err)
	}
	sum, err := Sum(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, sum
}

// A file comes from the first server that has it, whole, to those that hold the key.
func TestFetch(t *testing.T) {
	path, sum := file(t)
	key := secure.NewKey()
	serve := func(key secure.Key, files map[string]string) string {
		s, err := Serve(key, files)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return fmt.Sprint("127.0.0.1:", s.Port())
	}
	has, hasnt := serve(key, map[string]string{sum: path}), serve(key, nil)
	changed, stranger := serve(key, map[string]string{strings.Repeat("0", 64): path}), serve(secure.NewKey(), map[string]string{sum: path})
	for name, tc := range map[string]struct {
		from []string
		sum  string
		err  string
	}{
		"the first":      {[]string{has, hasnt}, sum, ""},
		"another one":    {[]string{stranger, hasnt, has}, sum, ""},
		"nobody":         {[]string{hasnt}, sum, "it has no such file"},
		"a changed file": {[]string{changed}, strings.Repeat("0", 64), "has changed there"},
		"a stranger":     {[]string{stranger}, sum, "another job's key"},
	} {
		to := filepath.Join(t.TempDir(), "copy")
		err := (&Source{Addresses: tc.from, Key: key, Number: 7}).Fetch(t.Context(), tc.sum, to, 0o750)
		if tc.err != "" {
			if _, stat := os.Stat(to); err == nil || !strings.Contains(err.Error(), tc.err) || stat == nil {
				t.Errorf("%s: %v, file %v", name, err, stat == nil)
			}
			continue
		}
		got, e := Sum(to)
		info, _ := os.Stat(to)
		if err != nil || e != nil || got != sum || info.Mode().Perm() != 0o750 {
			t.Errorf("%s: %v, %v, %s", name, err, e, info.Mode())
		}
	}
}

// Programs can be executed from the directory, and only the user can enter it.
func TestDirectory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d, err := MakeDirectory()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.Path)
	if err != nil || info.Mode().Perm() != 0o700 || executable(d.Path) != nil {
		t.Errorf("%v, %v, %v", info, err, executable(d.Path))
	}
	if err := RemoveLeft(t.TempDir()); err == nil {
		t.Error("another directory was removed")
	}
	if err := RemoveLeft(d.Path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.Path); err == nil {
		t.Error("it is left")
	}
}

// started is an agent that notes what it is to start.
type started struct {
	agent.Agent
	specs []agent.Spec
}

func (s *started) Start(specs []agent.Spec) ([]agent.Process, error) {
	s.specs = specs
	return nil, nil
}

func TestAgent(t *testing.T) {
	for name, tc := range map[string]struct {
		a         Agent
		path, dir string
		want      string
	}{
		"a program":                {Agent{Programs: map[string]string{"/d/p": "/s/p"}}, "./p", "", "/s/p  [A=1 PWD=/d]"},
		"with its path":            {Agent{Programs: map[string]string{"/d/p": "/s/p"}}, "/d/p", "/e", "/s/p /e [A=1 PWD=/d]"},
		"another one":              {Agent{Programs: map[string]string{"/d/p": "/s/p"}}, "./q", "", "./q  [A=1 PWD=/d]"},
		"elsewhere":                {Agent{Work: "/s/w"}, "/bin/q", "", "/bin/q /s/w [A=1 PWD=/s/w]"},
		"a program that stays":     {Agent{Work: "/s/w"}, "./q", "", "/d/q /s/w [A=1 PWD=/s/w]"},
		"below":                    {Agent{Work: "/s/w"}, "/bin/q", "/d/x/y", "/bin/q /s/w/x/y [A=1 PWD=/s/w/x/y]"},
		"a relative directory":     {Agent{Work: "/s/w"}, "/bin/q", "x", "/bin/q /s/w/x [A=1 PWD=/s/w/x]"},
		"a directory of its own":   {Agent{Work: "/s/w"}, "/bin/q", "/data", "/bin/q /data [A=1 PWD=/d]"},
		"its parent isn't in work": {Agent{Work: "/s/w"}, "/bin/q", "/", "/bin/q / [A=1 PWD=/d]"},
		"a library":                {Agent{Library: "/s/l"}, "/bin/q", "", "/bin/q  [A=1 PWD=/d LD_LIBRARY_PATH=/s/l]"},
	} {
		inner := &started{}
		tc.a.Agent, tc.a.Dir = inner, "/d"
		env := []string{"A=1", "PWD=/d"}
		given := []agent.Spec{{Path: tc.path, Dir: tc.dir, Env: env}}
		tc.a.Start(given)
		s := inner.specs[0]
		if got := fmt.Sprint(s.Path, " ", s.Dir, " ", s.Env); got != tc.want {
			t.Errorf("%s: %s, not %s", name, got, tc.want)
		}
		if given[0].Path != tc.path || !slices.Equal(env, []string{"A=1", "PWD=/d"}) {
			t.Errorf("%s: the caller's were changed", name)
		}
	}
}
