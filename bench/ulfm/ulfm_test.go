package ulfm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/bench/peers"
)

// script is a program in place of another.
func script(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// A launcher that is a script: what jobs print is read, and what can't be a measurement is refused.
func TestJobs(t *testing.T) {
	for _, x := range []struct{ name, job, want string }{
		{"good", `case $5 in steady) echo "100 200 300 400"; echo "100 220 300 0";; agree) echo 5000; exit 9;; known) echo 6000; esac`, ""},
		{"no lines", `exit 0`, "0 lines of 2"},
		{"too few", `echo "1 2 3 4"`, "1 lines of 2"},
		{"no numbers", `echo "1 2 x 4"; echo "1 2 3 4"`, "printed"},
		{"impossible", `echo "1 0 3 4"; echo "1 2 3 4"`, "can't be"},
		{"it fails", `echo "1 2 3 4"; echo "1 2 3 4"; echo too bad >&2; exit 3`, "exit status 3: too bad"},
	} {
		t.Run(x.name, func(t *testing.T) {
			l := peers.Library{Name: "ours", Exec: []string{script(t, "mpiexec", `[ "$1 $2 $3" = "-n 4 --with-ft" ] || exit 8; `+x.job), "-n"}, Survive: []string{"--with-ft"}}
			program := filepath.Join(t.TempDir(), "ulfm")
			blocks, err := Steady(context.Background(), l, program, 4, 2, 10)
			if x.want != "" {
				if err == nil || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
				return
			}
			if err != nil || !slices.Equal(blocks, []Block{{100, 200, 300, 400}, {100, 220, 300, 0}}) {
				t.Errorf("%v, %v", blocks, err)
			}
			if ns, err := Kill(context.Background(), l, program, 4, Agree); ns != 5000 || err != nil {
				t.Errorf("agree: %v, %v", ns, err)
			}
			if ns, err := Kill(context.Background(), l, program, 4, Known); ns != 6000 || err != nil {
				t.Errorf("known: %v, %v", ns, err)
			}
		})
	}
}

// A job with a death that prints nothing isn't measured, whatever its launcher says.
func TestNothingPrinted(t *testing.T) {
	l := peers.Library{Name: "ours", Exec: []string{script(t, "mpiexec", `exit 0`), "-n"}}
	if ns, err := Kill(context.Background(), l, filepath.Join(t.TempDir(), "ulfm"), 2, Known); err == nil {
		t.Errorf("%v", ns)
	}
}

// A compiler whose header has no ULFM is told from one that fails.
func TestBuild(t *testing.T) {
	none := peers.Library{Name: "old", CC: script(t, "mpicc", `cat >/dev/null; exit 1`)}
	if _, err := Build(t.TempDir(), none); !errors.Is(err, ErrNone) {
		t.Errorf("%v, want %v", err, ErrNone)
	}
	broken := peers.Library{Name: "broken", CC: script(t, "mpicc", `[ "$1" = -E ] || { echo no room; exit 1; }; cat >/dev/null`)}
	if _, err := Build(t.TempDir(), broken); err == nil || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
}
