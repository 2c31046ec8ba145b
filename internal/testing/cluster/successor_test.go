package cluster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// succeeded is what the report of a job says that another launcher has ended.
type succeeded struct {
	ExitCode int      `json:"exit_code"`
	Outcome  string   `json:"outcome"`
	Warnings []string `json:"warnings"`
}

// The launcher's process is killed. An agent leads, and the job ends there as it would have ended,
// with its report; banyan jobs shows it on that host.
func TestJobOutlivesItsLauncher(t *testing.T) {
	outlive(t, `pkill -KILL -f "^banyan launch-job"`)
}

// The power of the machine on which the launcher runs is cut: its processes are gone, and no
// connection says so.
func TestJobOutlivesItsLaunchersHost(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for silence")
	}
	outlive(t, `drop 0,1,2,3 c; pkill -KILL -f "^banyan launch-job"`)
}

// The launcher is killed while a console shows the job. The console finds the next launcher
// on a host, and shows every byte once.
func TestConsoleFindsTheNextLauncher(t *testing.T) {
	want := undisturbed(t, heat)
	over := slices.Insert(slices.Clone(overHosts), 2, "--on-console-loss=continue")
	j := start(t, command(over, heat)...)
	j.await("step 1000", 1)
	shared.Fault(t, `pkill -KILL -f "^banyan launch-job"`)
	if code := j.end(); code != 0 || j.printed() != want {
		t.Errorf("exit code %d; it printed\n%s\nand undisturbed\n%s", code, j.printed(), want)
	}
}

// outlive runs a job, does what the words say to its launcher, and sees that an agent goes on.
func outlive(t *testing.T, words string) {
	want := undisturbed(t, heat)
	output, path := filepath.Join(shared.Root, "bin", "successor.out"), filepath.Join(shared.Root, "bin", "successor.json")
	os.Remove(output)
	os.Remove(path)
	defer os.Remove(output)
	defer os.Remove(path)
	j := start(t, command(overHosts[:2], []string{"--detach", "--output", output, "--report", path}, overHosts[2:], heat)...)
	j.finish()
	name := strings.TrimSpace(j.printed())
	read := func() string {
		b, _ := os.ReadFile(output)
		return string(b)
	}
	until(t, "the job computes", func() bool { return strings.Contains(read(), "step 1000") })
	shared.Fault(t, words)
	at := time.Now()
	var r succeeded
	until(t, "the next launcher writes the report", func() bool {
		text, err := os.ReadFile(path)
		return err == nil && json.Unmarshal(text, &r) == nil && r.Outcome != ""
	})
	t.Logf("the job has ended %v after the launcher", time.Since(at))
	if r.ExitCode != 0 || r.Outcome != "completed" || !strings.Contains(strings.Join(r.Warnings, "\n"), "another launcher has taken over") {
		t.Errorf("the report says %+v", r)
	}
	if got := read(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	until(t, "a host knows the job", func() bool {
		for _, h := range []string{"0", "1", "2", "3"} {
			out, _ := shared.Script(t.Context(), "on", h, "bin/banyan", "jobs").Output()
			if strings.Contains(string(out), name) {
				return strings.Contains(string(out), "ended (0)")
			}
		}
		return false
	})
}

// until waits for something.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
	}
}
