package launcher

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/console"
	"banyan/internal/proto"
)

// askDrain asks a job to drain hosts.
func askDrain(t *testing.T, s *console.Server, q console.DrainHosts) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	go func() {
		if theirs, err := socket.Accept(); err == nil {
			s.Serve(theirs)
		}
	}()
	ours, err := net.Dial("unix", socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	a, err := console.Ask[console.HostsChanged](ctx, ours, console.DrainHostsRequest, q, nil)
	return a.Names, err
}

// refusedDrain has a drain refused for a reason.
func refusedDrain(t *testing.T, s *console.Server, q console.DrainHosts, why string) {
	t.Helper()
	if names, err := askDrain(t, s, q); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%v: %v, %v, want %q", q, names, err, why)
	}
}

// A process that runs on a drained host is replaced on another, from a live replica. What nothing
// can replace, and what takes too long, stays.
func TestDrain(t *testing.T) {
	t.Parallel()
	_, agents := pretend(t, "a", "b", "c")
	server, dir := console.NewServer(console.Info{}, nil), t.TempDir()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		awaitFile(dir, "healable")
		refusedDrain(t, server, console.DrainHosts{Names: []string{"b", "z"}}, "the job has no host z; it has a, b, c")
		refusedDrain(t, server, console.DrainHosts{Names: []string{"a", "b", "c"}}, "a can't be drained: no other host can have it")
		// Rank 0 never comes to a safe point.
		refusedDrain(t, server, console.DrainHosts{Names: []string{"a"}, Within: 100 * time.Millisecond}, "a hasn't left: it takes too long: rank 0 replica 0 stays where it is")
		if names, err := askDrain(t, server, console.DrainHosts{Names: []string{"b"}}); err != nil && err.Error() != errEnded.Error() || err == nil && !slices.Equal(names, []string{"b"}) {
			t.Error(names, err)
		}
	}()
	o := run(t, Config{Ranks: 2, Replicas: 2, Heal: true, Agents: agents, Places: []int{0, 1, 2, 2}, Requests: server}, "heal", "drained", dir)
	<-asked
	r := o.report
	if r.ExitCode != 0 || o.stdout != "one\ntwo\nthree\nfour\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", r.ExitCode, o.stdout, o.stderr)
	}
	if len(r.Deaths) != 1 || r.Deaths[0].Cause != CauseDrained || r.Deaths[0].Process != 1 || len(r.Heals) != 1 || r.Heals[0].Host != "a" || r.Heals[0].Error != "" {
		t.Errorf("%+v, %+v", r.Deaths, r.Heals)
	}
	// Its donor had to give a sign of life first.
	answered, err := os.Stat(filepath.Join(dir, "answered"))
	if died := r.Start.Add(time.Duration(r.Deaths[0].At)); err != nil || died.Before(answered.ModTime()) {
		t.Errorf("it died at %v, and its donor answered at %v: %v", died, answered.ModTime(), err)
	}
	refusedDrain(t, server, console.DrainHosts{Names: []string{"a"}}, "the job has ended")
}

// By force a host leaves though nothing can replace its processes: their siblings go on.
func TestDrainByForce(t *testing.T) {
	t.Parallel()
	_, agents := pretend(t, "a", "b")
	server, dir := console.NewServer(console.Info{}, nil), t.TempDir()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		defer leaveFile(dir, "go", "")
		awaitFile(dir, "begun")
		refusedDrain(t, server, console.DrainHosts{Names: []string{"b"}}, "b can't be drained: no process is replaced in this job, which was started without --heal (rank 0 replica 1)")
		if names, err := askDrain(t, server, console.DrainHosts{Names: []string{"b"}, Force: true}); err != nil || !slices.Equal(names, []string{"b"}) {
			t.Error(names, err)
		}
		refusedDrain(t, server, console.DrainHosts{Names: []string{"b"}, Force: true}, "b has left the job")
	}()
	script := "touch begun; until test -e go; do sleep 0.02; done; echo x"
	o := run(t, Config{Ranks: 1, Replicas: 2, Agents: agents, Places: []int{0, 1}, Requests: server, Program: "sh", Args: []string{"-c", script}, Dir: dir})
	<-asked
	if r := o.report; r.ExitCode != 0 || o.stdout != "x\n" || r.Hosts[1].Left == nil || r.Hosts[0].Left != nil {
		t.Errorf("%+v, stdout %q, stderr %q", r, o.stdout, o.stderr)
	}
}

// A host that joins takes the replacement that no other host could have.
func TestArrival(t *testing.T) {
	t.Parallel()
	hosts, agents := pretend(t, "a", "b", "c")
	arrivals := make(chan Arrival)
	dir := t.TempDir()
	go func() {
		awaitFile(dir, "healable")
		arrivals <- Arrival{Agent: hosts[2], Name: "new"}
	}()
	elsewhere := func(_ proto.Proc, _ []int, living []bool) (int, bool) { return 2, len(living) > 2 }
	o := run(t, Config{Ranks: 2, Replicas: 2, Heal: true, Agents: agents[:2], Places: layers(2, 2), Arrivals: arrivals, Rehome: elsewhere}, "heal", "good", dir)
	r := o.report
	if r.ExitCode != 0 || len(r.Heals) != 1 || r.Heals[0].Host != "new" || len(r.Hosts) != 3 || r.Hosts[2].Joined == nil || !strings.Contains(o.stderr, "host new has joined: replacements may run there") {
		t.Errorf("%+v, stderr %q", r, o.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "replacement")); err != nil {
		t.Error(err)
	}
}

// A host leaves when the others decide without it. One that takes too long leaves later, and is
// asked again.
func TestPart(t *testing.T) {
	t.Parallel()
	_, agents := pretend(t, "a", "b")
	server, dir := console.NewServer(console.Info{}, nil), t.TempDir()
	asked, parting := make(chan struct{}), make(chan func(), 1)
	part := func(agent int, parted func()) {
		if agent != 1 {
			t.Errorf("host %d parts", agent)
		}
		parting <- parted
	}
	go func() {
		defer close(asked)
		defer leaveFile(dir, "go", "")
		awaitFile(dir, "begun")
		refusedDrain(t, server, console.DrainHosts{Names: []string{"b"}, Within: 100 * time.Millisecond}, "b leaves when the output that it alone has was shown")
		parted := <-parting
		time.AfterFunc(time.Second, parted) // by then the drain has been asked for again
		if names, err := askDrain(t, server, console.DrainHosts{Names: []string{"b"}}); err != nil || !slices.Equal(names, []string{"b"}) {
			t.Error(names, err)
		}
	}()
	script := "touch begun; until test -e go; do sleep 0.02; done; echo x"
	o := run(t, Config{Ranks: 1, Agents: agents, Places: []int{0}, Requests: server, Program: "sh", Args: []string{"-c", script}, Dir: dir, Part: part})
	<-asked
	if r := o.report; r.ExitCode != 0 || o.stdout != "x\n" || r.Hosts[1].Left == nil {
		t.Errorf("%+v, stdout %q, stderr %q", r, o.stdout, o.stderr)
	}
}

// released notes what an agent needn't keep any more.
type released struct {
	agent.Kept
	upTo uint64
}

func (r *released) Release(offset uint64) { r.upTo = max(r.upTo, offset) }

// The agent of a host that leaves lets go of what another one has, too, or what the state has, and
// of nothing else.
func TestSpare(t *testing.T) {
	for _, tc := range []struct {
		name  string
		other kept // on another host
		lets  bool
	}{
		{"another replica wrote the same", kept{at: 100}, true},
		{"another replica wrote less", kept{at: 99}, false},
		{"a replacement that began when all was shown", kept{base: 40, at: 100}, true},
		{"a replacement, and what was before is nowhere", kept{base: 60, at: 100}, false},
		{"a replacement, and what was before is in the state", kept{base: 60, at: 100, tail: make([]byte, 60)}, true},
	} {
		for host, stays := range []bool{true, false} {
			p := newPositions(1, true)
			mine := &released{}
			tc.other.of, tc.other.stream = &process{host: host}, &released{}
			p.streams[0][0] = position{shown: 40, kept: []*kept{{of: &process{host: 7}, stream: mine, at: 100}, &tc.other}}
			p.spare(7, func(h int) bool { return h == 0 })
			if want := map[bool]uint64{true: 100}[tc.lets && stays]; mine.upTo != want {
				t.Errorf("%s, the other host stays: %v: released up to %d, want %d", tc.name, stays, mine.upTo, want)
			}
		}
	}
}
