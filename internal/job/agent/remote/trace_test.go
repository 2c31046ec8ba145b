package remote

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// All processes of a host count from the same moment: each reading of two clocks would be another.
func TestTracesFitTogether(t *testing.T) {
	r := newRig(t, Options{})
	const procs = 200
	var specs []agent.Spec
	for i := range proto.Proc(procs) {
		specs = append(specs, agent.Spec{Proc: i, Trace: &agent.Trace{Dir: "/launcher's", Begin: 1e9}})
	}
	r.start(specs...)
	first := r.fake.process(key{0, 0}).spec.Trace.Begin
	for i := range proto.Proc(procs) {
		if at := r.fake.process(key{i, 0}).spec.Trace.Begin; at != first {
			t.Fatalf("process %d counts from %d, process 0 from %d", i, at, first)
		}
	}
	r.Listener.Close()
	r.end()
}

// What a process writes to its trace comes to the launcher while it runs, whole lines alone, and
// with the rest when it has ended. The directory is the agent's, and is gone with it. Times count
// from where the launcher's do.
func TestTrace(t *testing.T) {
	r := newRig(t, Options{})
	var mono unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono)
	p := r.start(agent.Spec{Proc: 2, Trace: &agent.Trace{Dir: "/launcher's", Begin: mono.Nano()}}, agent.Spec{Proc: 3})
	there := r.fake.process(key{2, 0})
	to := there.spec.Trace
	if after := to.Begin - mono.Nano(); after > 0 || after < -int64(time.Minute) {
		t.Errorf("one machine's times begin %v later", time.Duration(after))
	}
	if p[1].(agent.Recorded).Record() != nil || r.fake.process(key{3, 0}).spec.Trace != nil {
		t.Error("a process records that needn't")
	}
	write := func(text string) {
		file, err := os.OpenFile(filepath.Join(to.Dir, "2.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(text)
			file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	record := p[0].(agent.Recorded).Record()
	write("header\none\ntw")
	b := make([]byte, 100)
	if n, err := io.ReadAtLeast(record, b, len("header\none\n")); err != nil || string(b[:n]) != "header\none\n" {
		t.Errorf("%q, %v", b[:n], err)
	}
	write("o\n" + strings.Repeat("long\n", 1<<18))
	there.kill(9)
	rest, err := io.ReadAll(record)
	if err != nil || string(rest) != "two\n"+strings.Repeat("long\n", 1<<18) {
		t.Errorf("%d bytes, %v", len(rest), err)
	}
	r.Listener.Close()
	r.end()
	if _, err := os.Stat(to.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what is left: %v", err)
	}
}

// A line that fits no chunk is passed on, and one that is longer than any line of a trace isn't
// waited for.
func TestLongTraceLine(t *testing.T) {
	f := traceFiles{dir: t.TempDir(), at: make(map[string]int64)}
	file, err := os.Create(filepath.Join(f.dir, "0.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var got bytes.Buffer
	for _, step := range []struct {
		text string
		want int
	}{
		{"header\n", 7},
		{strings.Repeat("x", 20*copied), 0},
		{"\nnext\n", 20*copied + 6},
		{strings.Repeat("y", trace.MaxLine), 0},
		{"y", trace.MaxLine + 1},
		{"\nafter\n", 7},
	} {
		file.WriteString(step.text)
		got.Reset()
		for again := true; again; {
			n, err := f.copy(&got)
			if again = n > 0; err != nil {
				t.Fatal(err)
			}
		}
		if got.Len() != step.want {
			t.Errorf("%d bytes of %d, not %d", got.Len(), len(step.text), step.want)
		}
	}
}

// The traces of several ranks in one process are passed on as one, with one header.
func TestTraceOfManyRanks(t *testing.T) {
	f := traceFiles{dir: t.TempDir(), at: make(map[string]int64)}
	var got bytes.Buffer
	for _, step := range []struct{ file, text, want string }{
		{"0.jsonl", "header\na\n", "header\na\n"},
		{"1.jsonl", "header\nb\n", "b\n"},
		{"0.jsonl", "c", ""},
		{"0.jsonl", "d\ne", "cd\n"},
	} {
		file, _ := os.OpenFile(filepath.Join(f.dir, step.file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		file.WriteString(step.text)
		file.Close()
		got.Reset()
		if _, err := f.copy(&got); err != nil || got.String() != step.want {
			t.Errorf("%q in %s: %q, %v", step.text, step.file, got.String(), err)
		}
	}
}

// Nothing but a directory of traces is removed.
func TestRemoveTraces(t *testing.T) {
	dir := t.TempDir()
	for name, goes := range map[string]bool{traceKind + "x": true, "mine": false} {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Join(path, "0"), 0o700)
		err := RemoveTraces(path)
		if _, stat := os.Stat(path); (err == nil) != goes || errors.Is(stat, os.ErrNotExist) != goes {
			t.Errorf("%s: %v, %v", name, err, stat)
		}
	}
}
