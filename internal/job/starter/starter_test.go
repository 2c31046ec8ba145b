package starter

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent/secure"
)

func TestTemplate(t *testing.T) {
	how, err := Template(`docker exec -i {host} sh -c "exec {agent}" 'a b' \"`)
	if err != nil {
		t.Fatal(err)
	}
	got := how.command("h1", []string{"/b/banyan", "start-agent"}, "unused")
	if want := []string{"docker", "exec", "-i", "h1", "sh", "-c", "exec /b/banyan start-agent", "a b", `"`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	how, err = Template("flux exec {host} {agent}")
	if got := how.command("h1", []string{"banyan", "start-agent"}, ""); err != nil || !slices.Equal(got, []string{"flux", "exec", "h1", "banyan", "start-agent"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"", "rsh {agent}", "rsh {host}", "rsh '{host} {agent}", `rsh {host} {agent} \`} {
		if _, err := Template(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	ssh, err := SSH("ssh -p 22")
	if got := ssh.command("me@h1", nil, "line"); err != nil || !slices.Equal(got[:3], []string{"ssh", "-p", "22"}) || !slices.Equal(got[len(got)-2:], []string{"me@h1", "line"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOrder(t *testing.T) {
	want := Order{Build: "b", Number: 3, Connect: []string{"10.0.0.1:1"}, Dir: "/d", Umask: 0o22, Files: []File{{"./p", "ab"}}}
	key := secure.NewKey()
	var b bytes.Buffer
	if err := want.write(&b, key); err != nil {
		t.Fatal(err)
	}
	b.WriteString("rest")
	got, k, err := readOrder(&b)
	if err != nil || !reflect.DeepEqual(got, want) || !bytes.Equal(k.Line(), key.Line()) || b.String() != "rest" {
		t.Errorf("%+v, %v, rest %q", got, err, b.String())
	}
}

func FuzzOrder(f *testing.F) {
	var b bytes.Buffer
	(&Order{Number: 1}).write(&b, secure.NewKey())
	f.Add(b.Bytes())
	f.Add([]byte("order 999999999\n"))
	f.Fuzz(func(t *testing.T, text []byte) { readOrder(bytes.NewReader(text)) })
}

// follow is what the follower answers to an order.
func follow(t *testing.T, o Order) (said string) {
	t.Chdir(t.TempDir())
	var in, out bytes.Buffer
	o.write(&in, secure.NewKey())
	if Follow(t.Context(), &in, &out, nil) == nil {
		t.Error("it has followed")
	}
	eachLine(&out, func(text string) {
		if w, ok := parseWord(text); ok && w.Kind == failed {
			said = w.Text
		}
	})
	return said
}

func TestFollowRefuses(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	build := secure.Build()
	for want, o := range map[string]Order{
		"is another build of banyan":    {Build: "other", Dir: dir},
		"programs can't start in /none": {Build: build, Dir: "/none"},
		"there is no ./none":            {Build: build, Dir: dir, Files: []File{{"./none", "ab"}}},
		"isn't the program":             {Build: build, Dir: dir, Files: []File{{"./program", "ab"}}},
	} {
		t.Run(want, func(t *testing.T) {
			if said := follow(t, o); !strings.Contains(said, want) {
				t.Error(said)
			}
		})
	}
}

// run runs a shell's line as the command of a host.
func run(ctx context.Context, line string, said *[]string, ready *bool) error {
	return Start{How: How{"sh", "-c", line}, Self: "/banyan", Host: "h", Key: secure.NewKey(),
		Ready: func() { *ready = true }, Line: func(text string) { *said = append(*said, text) }}.Run(ctx)
}

func TestRun(t *testing.T) {
	tell := func(kind string) string { return `printf '\036banyan {"kind":"` + kind + `","text":"why"}\n'; ` }
	for name, tc := range map[string]struct {
		line, err, said string
		ready           bool
	}{
		"an agent":         {tell("hello") + "read a; echo early; " + tell("ready") + "sleep 0.1; echo late >&2", "", "late", true},
		"refused":          {tell("hello") + tell("failed") + "exit 1", "why", "", false},
		"not there":        {"echo banner; echo 'there is no banyan' >&2; exit 127", "there is no banyan", "", false},
		"silent":           {tell("hello") + "exit 3", "exit status 3", "", false},
		"an agent, killed": {tell("hello") + tell("ready") + "kill -9 $$", "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			ready := false
			err := run(t.Context(), tc.line, &said, &ready)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) || ready != tc.ready || strings.Join(said, "|") != tc.said {
				t.Errorf("%v, ready %v, %q", err, ready, said)
			}
		})
	}
}

// What may pass is tried again.
func TestRunAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tried")
	var said []string
	ready := false
	err := run(t.Context(), "[ -e "+file+" ] || { touch "+file+`; exit 255; }; printf '\036banyan {"kind":"hello"}\n\036banyan {"kind":"ready"}\n'`, &said, &ready)
	if err != nil || !ready {
		t.Error(err, ready)
	}
}

// The end of the context ends the command and its children, without delay.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	var said []string
	ready := false
	if err := run(ctx, `sleep 1000 & sleep 1000`, &said, &ready); err == nil {
		t.Error("no error")
	}
}

// The script finds banyan where it is here, or in PATH, or says that there is none.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, "it's banyan")
	if err := os.WriteFile(self, []byte("#!/bin/sh\nprintf '\\036banyan {\"kind\":\"hello\"}\\n\\036banyan {\"kind\":\"failed\",\"text\":\"%s\"}\\n' \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	start := func(self string) error {
		return Start{How: How{"sh", "-c", "{script}"}, Self: self, Host: "h", Key: secure.NewKey(), Ready: func() {}, Line: func(string) {}}.Run(t.Context())
	}
	if err := start(self); err == nil || err.Error() != "start-agent" {
		t.Error(err)
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	if err := start("/nowhere/banyan"); err == nil || !strings.Contains(err.Error(), "there is no banyan at /nowhere/banyan, nor in PATH") {
		t.Error(err)
	}
}
