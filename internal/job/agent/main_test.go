package agent

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/control"
)

const roleVariable = "AGENT_TEST_ROLE"

// The test binary is the tests, a process of a job that says three words and ends, one that counts,
// and one that records.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "speaker" {
		conn, err := control.FromEnv()
		if err != nil || conn == nil {
			fmt.Println("no lifeline:", err)
			os.Exit(9)
		}
		for _, word := range []string{"one", "two", "three"} {
			conn.Send(control.Message{Type: control.Waits, Text: word})
		}
		if m, err := conn.Receive(); err == nil {
			fmt.Printf("heard %s\n", m.Text)
		}
		os.Exit(7)
	}
	if os.Getenv(roleVariable) == "counter" {
		count()
		os.Exit(0)
	}
	if os.Getenv(roleVariable) == "recorder" {
		recordSpan()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// newLocal makes an agent that is closed at the test's end.
func newLocal(t *testing.T) *Local {
	t.Helper()
	l, err := NewLocal()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// script is a process that a shell runs.
func script(text string) Spec {
	return Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", text}, Env: os.Environ()}
}

// started starts one process. Its messages are heard by nobody.
func started(t *testing.T, l *Local, s Spec) Process {
	t.Helper()
	procs, err := l.Start([]Spec{s})
	if err != nil {
		t.Fatal(err)
	}
	p := procs[0]
	t.Cleanup(func() {
		p.Signal(9)
		if in := p.Stdin(); in != nil {
			in.Close()
		}
		p.Stdout().Close()
		p.Stderr().Close()
		p.PMI().Close()
	})
	go p.Listen(func(control.Message) {})
	return p
}

// line is the next line of an output.
func line(t *testing.T, o Output) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReaderSize(o, 16).ReadString('\n')
		got <- strings.TrimSuffix(s, "\n")
	}()
	select {
	case s := <-got:
		return s
	case <-time.After(20 * time.Second):
		t.Fatal("no line comes")
		return ""
	}
}

// waited is the end of a process.
func waited(t *testing.T, p Process) End {
	t.Helper()
	type result struct {
		end End
		err error
	}
	done := make(chan result, 1)
	go func() { e, err := p.Wait(); done <- result{e, err} }()
	select {
	case r := <-done:
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.end
	case <-time.After(20 * time.Second):
		t.Fatal("the process isn't reaped")
		return End{}
	}
}
