package failover

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A launcher that is a script, of a job whose processes are on two hosts: what they tell is read,
// and what can't be a measurement is refused.
func TestRun(t *testing.T) {
	t.Parallel()
	const tell = `tell() { echo "$2" >$dir/.new; mv $dir/.new $dir/$1; }; `
	const told = `tell at-a-10 "a 10 1"; tell at-b-11 "b.site 11 2"; `
	const awaits = `while [ ! -e $dir/../lost ]; do sleep 0.01; done; rm $dir/../lost; `
	for _, x := range []struct{ name, job, loss, want string }{
		{"good", told + awaits + `tell gap-a-10 "a 7000000 9000000"; echo 1000`, "", ""},
		{"no effect", told + awaits + `tell gap-b-11 "b.site 7000000 9000000"; echo 1000`, "", "the loss of b had no effect"},
		{"nobody left", told + awaits + `echo 1000`, "", "0 processes tell their times, of 1 ranks"},
		{"a wrong sum", told + awaits + `tell gap-a-10 "a 7000000 9000000"; echo 999`, "", `"999" sums were right, of 1000`},
		{"no number", told + awaits + `tell gap-a-10 "a 7000000"; echo 1000`, "", "says"},
		{"it fails", told + awaits + `echo too bad >&2; exit 3`, "", "exit status 3: too bad"},
		{"too short", told + `echo 1000`, "sleep 0.5 #", "1000 steps are too few"},
		{"it never begins", "exit 0", "", "ended before all of its processes had begun"},
		{"another host", `tell at-a-10 "a 10 1"; tell at-c-11 "c 11 2"; exec sleep 20`, "", "no process is on b: they are on a, c"},
		{"no loss", told + "exec sleep 20", "echo no right >&2; false", "no right"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			launcher := filepath.Join(dir, "launcher")
			dirOf := `dir=${11}; [ "$*" = "run --host a,b:1 -n 1 --replicas 2 --heartbeat-timeout 2s program $dir 1000" ] || exit 9; `
			if err := os.WriteFile(launcher, []byte("#!/bin/sh\n"+tell+dirOf+x.job+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			b := &Bench{Launcher: []string{launcher, "run"}, Program: "program", Dir: dir, Hosts: "a,b:1", Ranks: 1, Steps: 1000, Timeout: 2 * time.Second, Victim: "b"}
			text := x.loss
			if text == "" {
				text = "[ {host}-{agent}-{processes} = b-2-11 ] && : >" + dir + "/lost"
			}
			loss, err := NewLoss(text, "ssh")
			if err != nil {
				t.Fatal(err)
			}
			g, err := b.Run(context.Background(), loss)
			if x.want == "" && (err != nil || g != Gaps{7 * time.Millisecond, 9 * time.Millisecond}) {
				t.Errorf("%v, %v", g, err)
			}
			if x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
				t.Errorf("%v, want %q", err, x.want)
			}
			if left, _ := filepath.Glob(dir + "/job-*"); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

func TestLoss(t *testing.T) {
	at := []told{{"h1.site", 12, 7}, {"h0", 3, 1}, {"h1.site", 11, 7}}
	for text, want := range map[string]string{
		Agent:           "ssh -p 3 me@h1 kill -KILL 7",
		Silence:         "ssh -p 3 me@h1 kill -STOP 7 11 12",
		"off {host}":    "off me@h1",
		"./off h1 then": "./off h1 then",
	} {
		loss, err := NewLoss(text, "ssh -p 3")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := loss.command("me@h1", at); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if _, err := NewLoss("agents", "ssh"); err == nil || !strings.Contains(err.Error(), "there are agent, silence") {
		t.Error(err)
	}
	if err := Restore(context.Background(), "[ {host} = h1 ] && exit 4", "h1"); err == nil || !strings.Contains(err.Error(), "exit status 4") {
		t.Error(err)
	}
}
