package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keep ends a job whose output nobody has shown.
func keep(t *testing.T, f Folder, name, text string, code int) {
	t.Helper()
	h := NewHub()
	fmt.Fprint(h.Stdout(), text)
	fmt.Fprint(h.Stderr(), "a message\n")
	if h.End(code) {
		t.Fatal("the end was shown")
	}
	if err := f.Keep(h, Info{Name: name, Command: []string{"./program"}, Begun: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

// reopen shows a job that has ended.
func reopen(t *testing.T, f Folder, name string, prepare func(*Console)) (out string, o Outcome) {
	t.Helper()
	conn, done, err := f.Reopen(name)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var screen screen
	c := Console{Stdout: &screen, Stderr: &screen}
	if prepare != nil {
		prepare(&c)
	}
	o, err = c.Attach(conn)
	if err != nil {
		t.Fatal(err)
	}
	return screen.String(), o
}

func left(f Folder) (names []string) {
	entries, _ := os.ReadDir(string(f))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestKept(t *testing.T) {
	f := aFolder(t)
	text := strings.Repeat("a line\n", 100_000)
	keep(t, f, "job-1", text, 9)
	all := list(t.Context(), []Folder{f})
	if len(all) != 1 || all[0].State != Ended || all[0].ExitCode != 9 {
		t.Errorf("%+v", all)
	}
	if out, o := reopen(t, f, "job-1", func(c *Console) { c.Watch = true }); strings.Count(out, "a line\n") != 100_000 || !o.Ended {
		t.Error("a watcher sees", len(out), o)
	}
	out, o := reopen(t, f, "job-1", nil)
	if strings.Count(out, "a line\n") != 100_000 || strings.Count(out, "a message\n") != 1 || len(out) != len(text)+10 || o.Code != 9 {
		t.Errorf("%d bytes, %+v", len(out), o)
	}
	if names := left(f); len(names) != 0 {
		t.Error("left:", names)
	}
	if _, _, err := f.Reopen("job-1"); err == nil {
		t.Error("it is still there")
	}
}

// A file goes on behind what it holds, also if the console that shows the end is killed.
func TestKeptToFile(t *testing.T) {
	f := aFolder(t)
	keep(t, f, "job-1", "0123456789", 0)
	path := filepath.Join(t.TempDir(), "out")
	os.WriteFile(path, []byte("before "), 0o600)
	attach := func(d disk) error {
		file, err := openFile(path, "job-1", false, d)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		conn, done, err := f.Reopen("job-1")
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		c := Console{Stdout: &screen{}, Stderr: &screen{}, File: file}
		_, err = c.Attach(conn)
		return err
	}
	steps := 0
	for attach(killedAfter(steps)) != nil { // the first one is killed before it does anything
		if steps++; steps > 1000 {
			t.Fatal("no end")
		}
		if steps%7 == 0 {
			steps += 10
		}
	}
	if b, _ := os.ReadFile(path); string(b) != "before 0123456789" {
		t.Errorf("%q", b)
	}
	if _, err := os.Stat(path + sidecarSuffix); err == nil {
		t.Error("the sidecar is left")
	}
}

func TestKeptIsBounded(t *testing.T) {
	f := aFolder(t)
	for i := range keptJobs + 3 {
		keep(t, f, fmt.Sprintf("job-%d", i), "x", 0)
		at := time.Now().Add(time.Duration(i) * time.Second)
		os.Chtimes(f.file(fmt.Sprintf("job-%d", i), endSuffix), at, at)
	}
	f.sweepEnds(time.Now())
	if n := len(f.ends()); n != keptJobs || f.Kept("job-2") || !f.Kept("job-3") {
		t.Error(n, "are kept")
	}
	f.sweepEnds(time.Now().Add(KeptFor + time.Hour))
	if names := left(f); len(names) != 0 {
		t.Error("left:", names)
	}
}

// If there is no space for all output, its end and the exit code are kept.
func TestKeptWithoutSpace(t *testing.T) {
	f := aFolder(t)
	h := NewHub()
	fmt.Fprint(h.Stdout(), strings.Repeat("x", 300<<10))
	h.End(4)
	// A directory in the way stands for the lack of space, once.
	blocked := f.file("job-1", outputSuffixes[Stdout]) + "~"
	os.Mkdir(blocked, 0o700)
	if err := f.Keep(h, Info{Name: "job-1"}); err != nil {
		t.Fatal(err)
	}
	out, o := reopen(t, f, "job-1", nil)
	if o.Code != 4 || strings.Count(out, "x") < keptTail || strings.Count(out, "x") > keptTail+MaxPiece || !strings.Contains(out, "bytes of stdout couldn't be kept") {
		t.Errorf("%+v, %d bytes", o, len(out))
	}
}
