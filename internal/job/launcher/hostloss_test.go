package launcher

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// A host is lost at any moment: that is one line, the deaths of its processes, and no more.
func TestHostLost(t *testing.T) {
	for _, tc := range []struct {
		name     string
		replicas int // each layer on a host of its own; 1: each rank
		lost     int // the host
		when     any // so many messages of this type have come from the host, or nil: it has started
		args     string
		code     int
		deaths   []int  // processes
		stderr   string // the line
		stdout   string // "": any
	}{
		{"before MPI_Init", 2, 1, nil, "die 9 9 x", 0, []int{2, 3}, "host b is lost: ranks 0, 1 had replicas there",
			"rank 0 hears that 2 is dead: its host is lost\nrank 1 hears that 2 is dead: its host is lost\n"},
		{"in the job", 2, 1, control.Ready, "die 9 9 x", 0, []int{2, 3}, "host b is lost: ranks 0, 1 had replicas there",
			"rank 0 hears that 2 is dead: its host is lost\nrank 1 hears that 2 is dead: its host is lost\n"},
		{"with the first replicas", 2, 0, control.Ready, "die 9 9 x", 0, []int{0, 1}, "host a is lost: ranks 0, 1 had replicas there",
			"rank 0 hears that 0 is dead: its host is lost\nrank 1 hears that 0 is dead: its host is lost\n"},
		{"at the end", 2, 0, control.Finalized, "finalized -1 0 stop", 0, []int{0, 1}, "host a is lost: ranks 0, 1 had replicas there",
			"late line\nlate line\n"},
		{"a rank", 1, 1, control.Ready, "die 9 9 x wait", 1, []int{1}, "host b is lost: rank 1 ran there; rank 1 is lost (its host is lost): the job ends with exit code 1", ""},
		{"a rank, handled", 1, 1, control.Survive, "die 9 9 x survive", 0, []int{1}, "host b is lost: rank 1 ran there; rank 1 is lost, and the program goes on without it",
			"rank 0 hears that 1 is dead: its host is lost\n"},
		{"a rank at its end", 1, 1, control.Finalized, "finalized 1 0 stop", 1, []int{1}, "host b is lost: rank 1 ran there", "late line\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			hosts, agents := pretend(t, "a", "b")
			c := Config{Ranks: 2, Replicas: tc.replicas, Agents: agents, Places: layers(2, tc.replicas)}
			if tc.replicas == 1 {
				c.Places = []int{0, 1}
			}
			h := hosts[tc.lost]
			if tc.when == nil {
				h.started = h.lose
			} else {
				now := times(len(tc.deaths), h.lose)
				h.passed = func(_ agent.Spec, m control.Message) {
					if m.Type == tc.when {
						now()
					}
				}
			}
			o := run(t, c, strings.Fields(tc.args)...)
			if o.report.ExitCode != tc.code || o.stderr != "banyan: "+tc.stderr+"\n" {
				t.Errorf("exit code %d, stderr %q", o.report.ExitCode, o.stderr)
			}
			if tc.stdout != "" && !sameLines(o.stdout, tc.stdout) {
				t.Errorf("stdout %q, want %q", o.stdout, tc.stdout)
			}
			at := o.report.Hosts[tc.lost].Lost
			if at == nil || o.report.Hosts[1-tc.lost].Lost != nil {
				t.Fatalf("hosts %+v", o.report.Hosts)
			}
			var died []int
			for _, d := range o.report.Deaths {
				died = append(died, d.Process)
				if d.Cause != CauseHostLost || d.Host != hosts[tc.lost].name || d.At != *at || d.Finalized != (tc.when == control.Finalized) {
					t.Errorf("%+v", d)
				}
			}
			if !slices.Equal(died, tc.deaths) {
				t.Errorf("processes %v died, want %v", died, tc.deaths)
			}
			if wantLost := strings.Contains(tc.stderr, "rank 1 is lost"); wantLost != (len(o.report.LostRanks) == 1) {
				t.Errorf("lost ranks %v", o.report.LostRanks)
			}
		})
	}
}

// Both hosts are lost, one after the other. The loss of a host on which nothing runs is told, too.
func TestAllHostsLost(t *testing.T) {
	t.Parallel()
	hosts, agents := pretend(t, "a", "b", "c")
	hosts[1].heard = func(_ agent.Spec, m control.Message) {
		if m.Type == control.Ready {
			hosts[2].lose()
			hosts[1].lose()
		}
	}
	hosts[0].heard = func(_ agent.Spec, m control.Message) {
		if m.Type == control.Waits { // it has heard of the loss of b
			hosts[0].lose()
		}
	}
	o := run(t, Config{Ranks: 1, Replicas: 2, Agents: agents, Places: []int{0, 1}}, "bereaved", "1")
	if o.report.ExitCode != 1 || len(o.report.Deaths) != 2 || fmt.Sprint(o.report.LostRanks) != "[0]" {
		t.Errorf("%+v", o.report)
	}
	for _, want := range []string{
		"banyan: host b is lost: rank 0 had replicas there\n",
		"banyan: host c is lost: no rank ran there\n",
		"banyan: host a is lost: rank 0 had replicas there; rank 0 is lost (its host is lost of all 2 replicas): the job ends with exit code 1\n",
	} {
		if strings.Count(o.stderr, want) != 1 {
			t.Errorf("stderr %q, want %q", o.stderr, want)
		}
	}
}

// Others hold a process of a host that is cut off for silent. The kill has no effect, and the
// process isn't dead before the host is lost.
func TestSilentBeforeItsHostIsLost(t *testing.T) {
	t.Parallel()
	hosts, agents := pretend(t, "a", "b")
	b := hosts[1]
	hosts[0].heard = func(s agent.Spec, m control.Message) {
		if m.Type == control.Suspect {
			b.setCut(true)
		}
	}
	killed := times(3, b.lose) // it is killed again, in vain
	b.signaled = func(s agent.Spec, sig syscall.Signal) {
		if s.Proc == 3 && sig == syscall.SIGKILL {
			killed()
		}
	}
	o := run(t, Config{Ranks: 2, Replicas: 2, Agents: agents, Places: layers(2, 2), HeartbeatTimeout: 50 * time.Millisecond}, "suspect", "3")
	if o.report.ExitCode != 0 || o.stderr != "banyan: host b is lost: ranks 0, 1 had replicas there\n" || len(o.report.Deaths) != 2 {
		t.Fatalf("%q, %+v", o.stderr, o.report)
	}
	for _, d := range o.report.Deaths {
		want := foundByLauncher
		if d.Process == 3 {
			want = "process 0"
		}
		if d.Cause != CauseHostLost || d.FoundBy != want || d.At != *o.report.Hosts[1].Lost {
			t.Errorf("%+v", d)
		}
	}
}

// A job that is ended while a host is cut off ends when the host can be reached again, or is lost.
func TestEndWhileCutOff(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{true, false} {
		hosts, agents := pretend(t, "a", "b")
		b := hosts[1]
		then := b.lose
		if back {
			then = func() { b.setCut(false) }
		}
		killed := times(2, func() { go then() })
		b.signaled = func(_ agent.Spec, sig syscall.Signal) {
			if sig == syscall.SIGKILL {
				killed()
			}
		}
		hosts[0].heard = func(_ agent.Spec, m control.Message) {
			if m.Type == control.Abort {
				b.setCut(true)
			}
		}
		o := run(t, Config{Ranks: 2, Agents: agents, Places: []int{0, 1}, HeartbeatTimeout: 50 * time.Millisecond}, "abort", "0", "5")
		if o.report.ExitCode != 5 || o.report.Outcome != OutcomeAborted || len(o.report.Deaths) != 0 || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("back %v: %q, %+v", back, o.stderr, o.report)
		}
		if lost := o.report.Hosts[1].Lost != nil; lost == back {
			t.Errorf("back %v: lost %v", back, lost)
		}
	}
}

// Replacements go to hosts that live, and a host that is lost with a replacement, at any moment,
// doesn't count against the slot. The program is "heal" of recovery_test.go.
func TestHostLostHealing(t *testing.T) {
	const c, d = 2, 3
	for _, tc := range []struct {
		name  string
		lose  func(hosts []*pretended)
		heals string // host and error of each attempt
		code  int
		want  string // stderr
	}{
		{"the first host", func(h []*pretended) {
			h[1].heard = on(control.Healable, h[0])
		}, "[c ]", 0, `host a is lost: (.|\n)*replica 0 is back`},
		{"while it starts", func(h []*pretended) {
			h[c].starting = func(agent.Spec) { h[c].lose() }
		}, "[ it can't be started: the host is lost][d ]", 0, `host c is lost: no rank ran there(.|\n)*replica 0 is back`},
		{"when it has started", func(h []*pretended) { h[c].started = h[c].lose },
			"[c its host is lost][d ]", 0, `host c is lost: no rank ran there(.|\n)*replica 0 is back`},
		{"when it has arrived", func(h []*pretended) { h[c].heard = on(control.Arrived, h[c]) },
			"[c its host is lost][d ]", 0, `replica 0 is back`},
		{"when it has the state", func(h []*pretended) { h[c].heard = on(control.Committed, h[c]) },
			"[c its host is lost][d ]", 0, `replica 0 is back`},
		{"when it is back", func(h []*pretended) { h[c].heard = on(control.Healed, h[c]) },
			"[d ]", 0, `host c is lost: rank 1 had replicas there(.|\n)*replica 0 is back`},
		{"the donor's", func(h []*pretended) { h[c].heard = on(control.Arrived, h[1]) },
			"", 1, `host b is lost: ranks 0, 1 had replicas there; rank 1 is lost`},
		{"the donor's, while it starts", func(h []*pretended) {
			h[c].starting = func(agent.Spec) { // it isn't known whether it starts until c is lost, too
				h[c].setCut(true)
				h[1].lose()
			}
			h[0].signaled = func(agent.Spec, syscall.Signal) { h[c].lose() }
		}, "[ the job has come to its end]", 1, `rank 1 is lost`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			hosts, agents := pretend(t, "a", "b", "c", "d")
			tc.lose(hosts)
			o := run(t, Config{Ranks: 2, Replicas: 2, Heal: true, Agents: agents, Places: layers(2, 2), Limit: 25 * time.Second,
				Rehome: func(_ proto.Proc, _ []int, living []bool) (int, bool) { // c, then d
					i := slices.Index(living[c:], true)
					return c + i, i >= 0
				}}, "heal", "good", t.TempDir())
			if o.report.ExitCode != tc.code || !regexp.MustCompile(tc.want).MatchString(o.stderr) {
				t.Errorf("exit code %d, stderr %q, stdout %q", o.report.ExitCode, o.stderr, o.stdout)
			}
			heals := ""
			for _, h := range o.report.Heals {
				heals += fmt.Sprintf("[%s %s]", h.Host, h.Error)
			}
			if heals != tc.heals {
				t.Errorf("attempts %q, want %q; stderr %q", heals, tc.heals, o.stderr)
			}
		})
	}
}

// on loses a host when a message of this type comes.
func on(when control.Type, lost *pretended) func(agent.Spec, control.Message) {
	return func(_ agent.Spec, m control.Message) {
		if m.Type == when {
			lost.lose()
		}
	}
}

// If the only hosts left run the other replica, the slot waits, and that is said once. A shared
// host takes the replacement if that is allowed.
func TestNoHomeForAReplacement(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		hosts, agents := pretend(t, "a", "b")
		hosts[1].heard = on(control.Healable, hosts[0])
		o := run(t, Config{Ranks: 1, Replicas: 2, Heal: true, Agents: agents, Places: []int{0, 1}, AllowSharedHost: shared}, "bereaved", "1")
		told := strings.Count(o.stderr, "rank 0 replica 0 isn't replaced for now: no host is left that runs no other replica of its rank\n")
		if o.report.ExitCode != 0 || (told == 1) == shared {
			t.Errorf("shared %v: %q", shared, o.stderr)
		}
		if started := len(hosts[1].all) > 1; started != shared {
			t.Errorf("shared %v: a replacement was started: %v", shared, started)
		}
	}
}
