package peers

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrograms: scripts in the place of launchers see the command of their library and the number
// of processes, in an order that rotates from round to round.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	launcher := func(name string) Library {
		path := filepath.Join(dir, "launch-"+name)
		text := "#!/bin/sh\necho " + name + " \"$@\" >>" + dir + "/log\nshift 2\nexec \"$@\"\n"
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return Library{Name: name, Exec: []string{path, "-n"}, Env: []string{"LIBRARY=" + name}}
	}
	b := &Programs{[]Library{launcher("a"), launcher("b")}, time.Minute}
	steps := 0
	results, err := b.Run(context.Background(), []Program{{`sh -c '[ "$LIBRARY" = {lib} ]' >/dev/null`, 3}}, 2, func() { steps++ })
	if err != nil {
		t.Fatal(err)
	}
	x := results[0]
	if len(x.Times) != 2 || x.Times[1].Median <= 0 || x.Better != "b" || math.IsNaN(x.Ratio.Median) || steps != 4 {
		t.Errorf("%+v after %d steps", x, steps)
	}
	log, err := os.ReadFile(dir + "/log")
	want := ""
	for _, name := range []string{"a", "b", "b", "a"} {
		want += name + ` -n 3 sh -c [ "$LIBRARY" = ` + name + " ]\n"
	}
	if string(log) != want {
		t.Errorf("launched, %v:\n%swant:\n%s", err, log, want)
	}
}

// TestProgramFails: the error of a program says which, with what it printed last; one that doesn't
// end is ended.
func TestProgramFails(t *testing.T) {
	l := Library{Name: "a", Exec: []string{"sh", "-c", `shift; exec "$@"`, "launcher"}}
	b := &Programs{[]Library{l}, 200 * time.Millisecond}
	for text, want := range map[string]string{
		"sh -c 'echo no such mesh; exit 3'": "no such mesh",
		"sleep 20":                          "longer than 200ms",
		"/nonexistent-{lib}":                "/nonexistent-a",
	} {
		_, err := b.Run(context.Background(), []Program{{text, 2}}, 1, func() {})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a, ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTail(t *testing.T) {
	var x tail
	for range tailMost {
		x.Write([]byte("ab"))
	}
	x.Write([]byte("the end"))
	if len(x) != tailMost || !strings.HasSuffix(string(x), "bathe end") && !strings.HasSuffix(string(x), "abthe end") {
		t.Errorf("%d bytes, %q", len(x), x[len(x)-20:])
	}
}

// TestSelect: kinds are named alone or by their family, in any order, and without any are all.
func TestSelect(t *testing.T) {
	names := func(kinds ...string) string {
		rows, err := Select(kinds)
		if err != nil {
			return err.Error()
		}
		var seen []string
		for _, r := range rows {
			if len(seen) == 0 || seen[len(seen)-1] != r.Kind {
				seen = append(seen, r.Kind)
			}
		}
		return strings.Join(seen, " ")
	}
	for _, x := range []struct{ got, want string }{
		{names("threads", "barrier"), "barrier threads-2 threads-4"},
		{names("vector-stream"), "vector-stream"},
		{names("stream"), "stream"},
		{names("vector", "vector-stream"), "vector vector-stream"},
	} {
		if x.got != x.want {
			t.Errorf("%q; want %q", x.got, x.want)
		}
	}
	if rows, err := Select(nil); err != nil || len(rows) != len(Rows()) {
		t.Error(len(rows), err)
	}
	if e := names("latency", "gather"); !strings.Contains(e, `"gather"`) || !strings.Contains(e, "unexpected, threads") {
		t.Error(e)
	}
}
