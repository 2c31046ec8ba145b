package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/recovery"
)

// healProgram is a program of two ranks with two replicas, "heal HOW DIR": process 1, the first
// replica of rank 1, dies (unless HOW is "drained"), and process 3 is the donor. Replacements do as
// HOW says. Donor and replacement leave files in DIR for each other, where real ones send frames.
func healProgram(how, dir string) int {
	if os.Getenv(env.Incarnations) != "" {
		return healReplacement(how, dir)
	}
	m := join()
	if m.rank() == 1 {
		fmt.Println("one")
		m.control.Send(control.Message{Type: control.Unhealable, Text: "had rather not"})
	}
	if m.proc == 1 && how != "drained" {
		awaitFile(dir, "healable")
		fault.Kill.Strike()
	}
	if m.proc == 3 {
		m.tell(control.Healable)
		leaveFile(dir, "healable", "")
	}
	for {
		news, err := m.control.Receive()
		switch {
		case err != nil:
			return 99
		case news.Type == control.Explain: // is it alive?
			time.Sleep(100 * time.Millisecond)
			leaveFile(dir, "answered", "")
			m.control.Send(control.Message{Type: control.Waits, Number: news.Number})
		case news.Type == control.Donate && how != "hang":
			fmt.Print("two\nthr")
			mark := control.Message{Type: control.Mark, Proc: 1, Incarnation: news.Incarnation}
			if how == "mistaken" { // as if for a replacement that has died already
				mark.Incarnation--
			}
			m.control.Send(mark)
		case news.Type == control.Marked && how == "mistaken" && news.Incarnation == 0:
			fmt.Print("ee\nthr")
			m.control.Send(control.Message{Type: control.Mark, Proc: 1, Incarnation: 1})
		case news.Type == control.Marked:
			leaveFile(dir, "marked", "")
			if how == "orphan" || how == "late" || how == "lost" || how == "last" {
				fault.Kill.Strike()
			}
			fmt.Println("ee")
		case news.Proc == 1 && news.Type == control.Left, // the replacement, in order
			news.Proc == 1 && news.Type == control.Death && (news.Incarnation == recovery.MaxFailures || news.Incarnation == 1 && (how == "hopeless" || how == "stop late")):
			m.leave()
			return 0
		}
		if how == "early" && news.Type == control.Admit {
			m.leave() // the job ends during an attempt
			return 0
		}
	}
}

func healReplacement(how, dir string) int {
	m := connect()
	fmt.Println("what others have written")
	leaveFile(dir, "replacement", strconv.Itoa(os.Getpid()))
	switch how {
	case "hang", "killed":
		time.Sleep(time.Minute)
	}
	m.tell(control.Ready)
	m.tell(control.Arrived)
	switch how {
	case "die":
		return 3
	case "fail":
		m.control.Send(control.Message{Type: control.HealFailed, Text: "it has no wish to"})
		return 1
	case "hopeless":
		m.control.Send(control.Message{Type: control.Unhealable, Text: "nobody could"})
		return 1
	case "abort":
		m.control.Send(control.Message{Type: control.Abort, Code: 3, Text: "no such file"})
		time.Sleep(time.Minute)
	case "early":
		for { // until it is killed, which may be after the launcher has given it up
			m.tell(control.Arrived)
		}
	}
	awaitFile(dir, "marked")
	os.Remove(filepath.Join(dir, "marked")) // the donor of the next replacement is marked anew
	for news := (control.Message{}); how == "late" && news.Type != control.GiveUp; {
		var err error
		if news, err = m.control.Receive(); err != nil {
			return 99
		}
	}
	if how == "lost" || how == "orphan" || how == "last" {
		time.Sleep(50 * time.Millisecond) // the donor is dead by now, most likely
	}
	if how == "lost" {
		return 4
	}
	if how == "stop" {
		fault.Stop.Strike()
	}
	m.tell(control.Committed)
	if how == "stop late" {
		fault.Stop.Strike()
	}
	out, _, _ := env.TakeOutputFDs()
	syscall.Dup2(out[0], 1)
	syscall.Dup2(out[1], 2)
	m.tell(control.Healed)
	if how == "relapse" {
		fault.Kill.Strike()
	}
	if how == "last" {
		return m.last(dir)
	}
	fmt.Print("ee\nfour\n")
	m.leave()
	return 0
}

// last is what two replacements do: the first is the donor of the second, which replaces the donor
// of the first.
func (m *mpi) last(dir string) int {
	if m.proc == 1 {
		fmt.Print("ee\nfo")
		m.tell(control.Healable)
	}
	for left := m.proc == 3; !left; {
		news, err := m.control.Receive()
		switch {
		case err != nil:
			return 99
		case news.Type == control.Donate:
			m.control.Send(control.Message{Type: control.Mark, Proc: news.Proc, Incarnation: news.Incarnation})
		case news.Type == control.Marked:
			leaveFile(dir, "marked", "")
		case news.Type == control.Left:
			left = true
		}
	}
	fmt.Print("ur\n")
	m.leave()
	return 0
}

func leaveFile(dir, name, text string) {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		panic(err)
	}
}

func awaitFile(dir, name string) {
	for {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestHeal(t *testing.T) {
	for _, tc := range []struct {
		how, stdout, stderr string // stderr as a regular expression
		code                int
		heals               []string // the errors of the attempts
	}{
		{"good", "one\ntwo\nthree\nfour\n", `rank 1: replica 0 is back after .*s \(pid \d+\), with the state of replica 1`, 0, []string{""}},
		{"mistaken", "one\ntwo\nthree\nthree\nfour\n", `rank 1: replica 0 is back`, 0, []string{""}},
		{"orphan", "one\ntwo\nthree\nfour\n", `rank 1: replica 0 is back`, 0, []string{""}},
		{"lost", "one\ntwo\nthr", `rank 1 is lost \(signal 9 \(killed\) of all 2 replicas\)`, 137, []string{"exit 4"}},
		{"die", "one\ntwo\nthree\n", `replica 0 couldn't be replaced: exit 3; after 3 attempts it stays dead`, 0, []string{"exit 3", "exit 3", "exit 3"}},
		{"fail", "one\ntwo\nthree\n", `replica 0 couldn't be replaced: it has no wish to; after 3 attempts it stays dead`, 0, []string{"it has no wish to", "it has no wish to", "it has no wish to"}},
		{"abort", "one\ntwo\nthree\n", `replica 0 couldn't be replaced: it aborted with code 3: no such file; after 3 attempts it stays dead`, 0,
			[]string{"it aborted with code 3: no such file", "it aborted with code 3: no such file", "it aborted with code 3: no such file"}},
		{"relapse", "one\ntwo\nthree\n", `rank 1: replica 0 isn't replaced any more: the last 3 replacements were of no use`, 0, []string{"", "", ""}},
		{"hopeless", "one\ntwo\nthree\n", `replica 0 couldn't be replaced: nobody could; replica 1 isn't asked again\n$`, 0, []string{"nobody could"}},
		{"stop", "one\ntwo\nthree\n", `replica 0 couldn't be replaced: it was stopped; after 3 attempts it stays dead`, 0, []string{"it was stopped", "it was stopped", "it was stopped"}},
		{"early", "one\n", `rank 1: replica 0 couldn't be replaced: the job has come to its end\n$`, 0, []string{"the job has come to its end"}},
	} {
		t.Run(tc.how, func(t *testing.T) {
			t.Parallel()
			c := Config{Ranks: 2, Replicas: 2, Heal: true}
			if tc.how == "stop" {
				c.HeartbeatTimeout = 100 * time.Millisecond
			}
			o := run(t, c, "heal", tc.how, t.TempDir())
			if o.report.ExitCode != tc.code || !regexp.MustCompile(tc.stderr).MatchString(o.stderr) {
				t.Errorf("exit code %d, stderr %q", o.report.ExitCode, o.stderr)
			}
			if n := strings.Count(o.stderr, " had rather not"); n != 1 {
				t.Errorf("what both replicas say is told %d times", n)
			}
			if tc.how == "die" || tc.how == "fail" || tc.how == "abort" || tc.how == "hopeless" || tc.how == "relapse" || tc.how == "stop" { // the donor may have been asked once or thrice
				o.stdout = strings.Replace(o.stdout, strings.TrimPrefix(o.stdout, "one\n"), "two\nthree\n", 1)
			}
			if o.stdout != tc.stdout {
				t.Errorf("stdout %q", o.stdout)
			}
			var errs []string
			for i, h := range o.report.Heals {
				if errs = append(errs, h.Error); h.Rank != 1 || h.Replica != 0 || h.Process != 1 || h.Donor != 1 || int(h.Incarnation) != i+1 {
					t.Errorf("the report says %+v", h)
				}
			}
			if fmt.Sprint(errs) != fmt.Sprint(tc.heals) {
				t.Errorf("attempts ended with %q", errs)
			}
		})
	}
}

// If the donor dies when only its replacement is left of the rank, and the replacement has its
// state, the donor is replaced from the replacement.
func TestLastDonor(t *testing.T) {
	o := run(t, Config{Ranks: 2, Replicas: 2, Heal: true, Limit: 20 * time.Second}, "heal", "last", t.TempDir())
	want := `replica 0 is back .*, with the state of replica 1\n(.*\n)*.* replica 1 is back .*, with the state of replica 0`
	if o.report.ExitCode != 0 || o.stdout != "one\ntwo\nthree\nfour\n" || len(o.report.Heals) != 2 || !regexp.MustCompile(want).MatchString(o.stderr) {
		t.Errorf("exit code %d, stdout %q, stderr %q", o.report.ExitCode, o.stdout, o.stderr)
	}
}

// No process observes a replacement until a view has it. If it is stopped before, the launcher
// finds that.
func TestStoppedBeforeTheView(t *testing.T) {
	c := Config{Ranks: 2, Replicas: 2, Heal: true, HeartbeatTimeout: 100 * time.Millisecond}
	o := run(t, c, "heal", "stop late", t.TempDir())
	if want := `rank 1 replica 0 .* died: silent for .*, killed; found by the launcher`; o.report.ExitCode != 0 || !regexp.MustCompile(want).MatchString(o.stderr) {
		t.Errorf("exit code %d, stderr %q", o.report.ExitCode, o.stderr)
	}
}

// A replacement that does nothing is ended after the limit.
func TestHealLimit(t *testing.T) {
	dir := t.TempDir()
	c := Config{Ranks: 2, Replicas: 2, Heal: true, healLimit: 50 * time.Millisecond, Limit: 20 * time.Second}
	plan, err := fault.Parse("kill rank=1 replica=1 at=1s")
	if err != nil {
		t.Fatal(err)
	}
	c.Faults = plan // otherwise nothing would end the job
	o := run(t, c, "heal", "hang", dir)
	if n := strings.Count(o.stderr, "replica 0 couldn't be replaced: it didn't get ready within 50ms"); n != recovery.MaxFailures || len(o.report.Heals) != recovery.MaxFailures {
		t.Errorf("stderr %q", o.stderr)
	}
}

// A replacement that is late and has committed all the same goes on. Its donor is dead.
func TestLate(t *testing.T) {
	c := Config{Ranks: 2, Replicas: 2, Heal: true, healLimit: 2 * time.Second, Limit: time.Minute}
	o := run(t, c, "heal", "late", t.TempDir())
	if o.report.ExitCode != 0 || o.stdout != "one\ntwo\nthree\nfour\n" || !strings.Contains(o.stderr, "replica 0 is back") {
		t.Errorf("exit code %d, stdout %q, stderr %q", o.report.ExitCode, o.stdout, o.stderr)
	}
}

// Replacements end with the launcher, as all processes do, however the launcher ends.
func TestLauncherDiesHealing(t *testing.T) {
	dir := t.TempDir()
	cmd, _ := startLauncher(t, Config{Ranks: 2, Replicas: 2, Heal: true}, 1, "heal", "killed", dir)
	var pid int
	for deadline := time.Now().Add(20 * time.Second); pid == 0; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, "replacement"))
		if pid, _ = strconv.Atoi(string(text)); time.Now().After(deadline) {
			t.Fatal("no replacement")
		}
	}
	cmd.Process.Kill()
	gone(t, []int{pid})
}

func TestHealNeedsReplicas(t *testing.T) {
	if _, err := tryRun(t, Config{Ranks: 2, Heal: true}, "print", "x"); err == nil || !strings.Contains(err.Error(), "to heal there must be replicas") {
		t.Errorf("%v", err)
	}
}

// The launcher ignores spare processes: they are for launchers that start no replacements.
func TestSparesAreIgnored(t *testing.T) {
	t.Setenv(env.Spares, "2")
	o := run(t, Config{Ranks: 2}, "print", "x")
	if o.report.ExitCode != 0 || !strings.Contains(o.stderr, env.Spares+" is ignored") || strings.Contains(strings.Join(inherited(os.Environ()), " "), env.Spares) {
		t.Errorf("exit code %d, stderr %q", o.report.ExitCode, o.stderr)
	}
}
