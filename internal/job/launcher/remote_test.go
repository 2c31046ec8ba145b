package launcher

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/control"
)

// distant makes agents that are reached over a network, each with a Local at its end. kill ends one
// as a signal would.
func distant(t *testing.T, n int) (agents []agent.Agent, kill []func()) {
	t.Helper()
	key := secure.NewKey()
	l, err := remote.Listen("127.0.0.1:0", key, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	for i := range n {
		local, err := agent.NewLocal()
		if err != nil {
			t.Fatal(err)
		}
		own, end := context.WithCancel(context.Background())
		served := make(chan struct{})
		go func() {
			defer close(served)
			remote.Serve(own, remote.Config{Addresses: l.Addresses(), Number: i, Key: key, Agent: local})
		}()
		t.Cleanup(func() { end(); <-served })
		r, err := l.Expect(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		agents, kill = append(agents, r), append(kill, end)
	}
	t.Cleanup(func() { l.Close() }) // first, so that the agents end in order
	return agents, kill
}

// A job on other hosts is the same job: input, output, replacements and deaths.
func TestJobOnDistantHosts(t *testing.T) {
	t.Parallel()
	t.Run("input", func(t *testing.T) {
		agents, _ := distant(t, 2)
		input := strings.Repeat("0123456789abcdef", 1<<15)
		o := run(t, Config{Ranks: 2, Replicas: 2, Agents: agents, Places: layers(2, 2), Stdin: strings.NewReader(input)}, "cat", "1", "kill")
		if o.report.ExitCode != 0 || o.stdout != input {
			t.Errorf("%d bytes of %d came out, stderr %.300q", len(o.stdout), len(input), o.stderr)
		}
	})
	t.Run("healed", func(t *testing.T) {
		agents, _ := distant(t, 2)
		o := run(t, Config{Ranks: 2, Replicas: 2, Heal: true, Agents: agents, Places: layers(2, 2)}, "heal", "good", t.TempDir())
		if o.report.ExitCode != 0 || o.stdout != "one\ntwo\nthree\nfour\n" || !strings.Contains(o.stderr, "replica 0 is back") {
			t.Errorf("exit code %d, stdout %q, stderr %q", o.report.ExitCode, o.stdout, o.stderr)
		}
	})
	t.Run("not started", func(t *testing.T) {
		agents, _ := distant(t, 2)
		_, err := tryRun(t, Config{Ranks: 2, Agents: agents, Places: []int{0, 1}, Program: "true", Bind: "1023"})
		if e, ok := err.(*StartError); !ok || e.Code != 1 || !strings.Contains(err.Error(), "true can't be bound to cores [1023] on ") {
			t.Errorf("%v", err)
		}
	})
	t.Run("lost", func(t *testing.T) {
		agents, kill := distant(t, 2)
		ready := times(2, kill[1])
		agents[1] = overheard{agents[1].(*remote.Remote), func(m control.Message) {
			if m.Type == control.Ready {
				ready()
			}
		}}
		o := run(t, Config{Ranks: 2, Replicas: 2, Agents: agents, Places: layers(2, 2)}, "die", "9", "9", "x")
		if want := `^banyan: host \S+ is lost \(its agent has killed its processes, because .*\): ranks 0, 1 had replicas there\n$`; o.report.ExitCode != 0 || !regexp.MustCompile(want).MatchString(o.stderr) {
			t.Errorf("exit code %d, stderr %q", o.report.ExitCode, o.stderr)
		}
		for i, d := range o.report.Deaths {
			if d.Process != 2+i || d.Cause != CauseHostLost {
				t.Errorf("%+v", d)
			}
		}
		if want := "rank 0 hears that 2 is dead: its host is lost\nrank 1 hears that 2 is dead: its host is lost\n"; !sameLines(o.stdout, want) {
			t.Errorf("stdout %q", o.stdout)
		}
	})
}

// overheard is an agent whose processes' messages are also told to another.
type overheard struct {
	*remote.Remote
	also func(control.Message)
}

func (o overheard) Start(specs []agent.Spec) ([]agent.Process, error) {
	procs, err := o.Remote.Start(specs)
	for i, p := range procs {
		procs[i] = overheardProcess{p, o.also}
	}
	return procs, err
}

type overheardProcess struct {
	agent.Process
	also func(control.Message)
}

func (p overheardProcess) Listen(heard func(control.Message)) {
	p.Process.Listen(func(m control.Message) { heard(m); p.also(m) })
}
