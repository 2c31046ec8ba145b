package starter

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
)

func TestTemplate(t *testing.T) {
	how, err := Template(`docker exec -i {host} sh -c "exec {agent}" 'a b' \"`)
	if err != nil {
		t.Fatal(err)
	}
	got := how.command([]string{"h1"}, []string{"/b/banyan", "start-agent"}, "unused")
	if want := []string{"docker", "exec", "-i", "h1", "sh", "-c", "exec /b/banyan start-agent", "a b", `"`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	how, err = Template("flux exec {host} {agent}")
	if got := how.command([]string{"h1"}, []string{"banyan", "start-agent"}, ""); err != nil || !slices.Equal(got, []string{"flux", "exec", "h1", "banyan", "start-agent"}) {
		t.Errorf("%q, %v", got, err)
	}
	how, err = Template("flux run --requires=host:{hosts} -N {count} {agent}")
	if got := how.command([]string{"h1", "h2"}, []string{"banyan", "start-agent"}, ""); err != nil || !how.Together || !slices.Equal(got, []string{"flux", "run", "--requires=host:h1,h2", "-N", "2", "banyan", "start-agent"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"", "rsh {host} {hosts} {agent}", "rsh {agent}", "rsh {host}", "rsh '{host} {agent}", `rsh {host} {agent} \`} {
		if _, err := Template(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	ssh, err := SSH("ssh -p 22")
	if got := ssh.command([]string{"me@h1"}, nil, "line"); err != nil || !slices.Equal(got[:3], []string{"ssh", "-p", "22"}) || !slices.Equal(got[len(got)-2:], []string{"me@h1", "line"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// What a step of Slurm says to one that speaks frames comes at once, without a number before it.
func TestSrunPassesOnBytes(t *testing.T) {
	argv := Srun().On("h1", "/b/banyan", "attach", "--raw", "30s", "heat-4f2a1c")
	if !slices.Contains(argv, "--unbuffered") || slices.Contains(argv, "--label") || !slices.Contains(argv, "--nodelist=h1") {
		t.Errorf("%q", argv)
	}
	how, _ := SSH("")
	if argv := how.On("h1", "/b/banyan", "attach"); slices.Contains(argv, "--unbuffered") || argv[0] != "ssh" {
		t.Errorf("%q", argv)
	}
}

func TestOrder(t *testing.T) {
	want := Order{Build: "b", Connect: []string{"10.0.0.1:1"}, Dir: "/d", Umask: 0o22, Files: []File{{Path: "./p", Sum: "ab", Mode: 0o755}},
		Agents: []Agent{{3, "h3"}}, Branch: []Agent{{4, "h4"}}, How: How{Words: []string{"ssh"}, Heads: true}, Self: "/b"}
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
	(&Order{Umask: 1}).write(&b, secure.NewKey())
	f.Add(b.Bytes())
	f.Add([]byte("order 999999999\n"))
	f.Fuzz(func(t *testing.T, text []byte) { readOrder(bytes.NewReader(text)) })
}

// follow is what the follower answers to an order.
func follow(t *testing.T, o Order) (said string) {
	t.Chdir(t.TempDir())
	var in, out bytes.Buffer
	o.write(&in, secure.NewKey())
	if Follow(t.Context(), &in, &out, remote.Config{}, nil, nil) == nil {
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
		"is another build of banyan":          {Build: "other", Dir: dir},
		"which isn't one of the hosts":        {Build: build, Dir: dir, Agents: []Agent{{1, "no.such"}, {2, "host.here"}}},
		"programs can't start in /none":       {Build: build, Dir: "/none"},
		"there is no ./none":                  {Build: build, Dir: dir, Files: []File{{Path: "./none", Sum: "ab"}}},
		"isn't the file that the console has": {Build: build, Dir: dir, Files: []File{{Path: "./program", Sum: "ab"}}},
	} {
		t.Run(want, func(t *testing.T) {
			if o.Agents == nil {
				o.Agents = []Agent{{1, "h1"}}
			}
			if said := follow(t, o); !strings.Contains(said, want) {
				t.Error(said)
			}
		})
	}
}

// crew is a Crew whose events are lines.
func crew(how How, hosts ...string) (c *Crew, said func() string) {
	var mu sync.Mutex
	var all []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, fmt.Sprintf(format, args...))
	}
	c = &Crew{How: how, Self: "/banyan", Key: secure.NewKey(),
		Greeted: func(n int) { note("hello %d", n) },
		Ready:   func(n int) { note("ready %d", n) },
		Trouble: func(n int, why error) { note("trouble %d %v", n, why) },
		Lost:    func(n int, why error) { note("lost %d %v", n, why) },
		Line:    func(n int, text string) { note("line %d %s", n, text) },
	}
	for i, h := range hosts {
		c.Agents = append(c.Agents, Agent{i + 1, h})
	}
	return c, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(all, "|")
	}
}

// words is a shell's command that says a word.
func words(all ...string) (line string) {
	for _, w := range all {
		line += `printf '\036banyan {` + w + `}\n'; `
	}
	return line
}

const (
	sayHello = `"kind":"hello"`
	sayReady = `"kind":"ready","number":1`
)

func TestCrew(t *testing.T) {
	for name, tc := range map[string]struct{ line, said string }{
		"an agent":         {words(sayHello) + "read a; echo early; " + words(sayReady) + "echo late", "hello 1|ready 1|line 1 late|lost 1 its agent has ended"},
		"refused":          {words(sayHello, `"kind":"failed","number":1,"text":"why","final":true`) + "exit 1", "hello 1|lost 1 why"},
		"not there":        {"echo banner >&2; echo 'there is no banyan' >&2; exit 127", "lost 1 banner; there is no banyan"},
		"an agent, killed": {words(sayHello, sayReady) + "kill -9 $$", "hello 1|ready 1|lost 1 its agent has ended"},
		"another number's": {words(sayHello, sayReady, `"kind":"failed","number":7,"text":"?"`, `"kind":"line","number":1,"text":"x"`), "hello 1|ready 1|line 1 x|lost 1 its agent has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, said := crew(How{Words: []string{"sh", "-c", tc.line}}, "h")
			c.Run(t.Context())
			if said() != tc.said {
				t.Error(said())
			}
		})
	}
}

// What may pass is tried again.
func TestCrewTriesAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tried")
	c, said := crew(How{Words: []string{"sh", "-c", "[ -e " + file + " ] || { touch " + file + "; echo no route; exit 255; }; " + words(sayHello, sayReady)}}, "h")
	c.Run(t.Context())
	if want := "trouble 1 no route|hello 1|ready 1|lost 1 its agent has ended"; said() != want {
		t.Error(said())
	}
}

// One command brings up several hosts. What it doesn't bring up gets a command of its own.
func TestCrewTogether(t *testing.T) {
	line := `n={count}; [ $n = 2 ] && h=1 || h=2; printf '0: '; ` + words(sayHello) + `read order; printf "$h: "; printf '\036banyan {"kind":"ready","number":'$h'}\n'
		[ $n = 1 ] || { echo '0: late'; echo "error: {hosts}"; }`
	c, said := crew(How{Words: []string{"sh", "-c", line}, Together: true, Labels: true}, "a", "b")
	c.Run(t.Context())
	want := "hello 1|hello 2|ready 1|line 1 late|line 1 error: a,b|lost 1 its agent has ended|hello 2|ready 2|lost 2 its agent has ended"
	if said() != want {
		t.Error(said())
	}
}

// The end of the context ends the command and its children, without delay.
func TestCrewEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	c, said := crew(How{Words: []string{"sh", "-c", `sleep 1000 & sleep 1000`}}, "h")
	c.Run(ctx)
	if said() != "" {
		t.Error(said())
	}
}

// The script finds banyan where it is here, or in PATH, or says that there is none.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	self := filepath.Join(dir, "it's banyan")
	if err := os.WriteFile(self, []byte("#!/bin/sh\nprintf '\\036banyan {\"kind\":\"hello\"}\\n\\036banyan {\"kind\":\"failed\",\"number\":1,\"final\":true,\"text\":\"%s\"}\\n' \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	start := func(self string) string {
		c, said := crew(How{Words: []string{"sh", "-c", "{script}"}}, "h")
		c.Self = self
		c.Run(t.Context())
		return said()
	}
	if said := start(self); said != "hello 1|lost 1 start-agent" {
		t.Error(said)
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	if said := start("/nowhere/banyan"); !strings.Contains(said, "there is no banyan at /nowhere/banyan, nor in PATH") {
		t.Error(said)
	}
}
