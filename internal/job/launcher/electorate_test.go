package launcher

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
)

// Hosts of 3, 2 and 1 processes: the first, which has half of them and the most senior one, falls
// silent with its agent. Leases decide, so the others go on. They would stop, 3δ later, if they had
// to be a quorum of the processes.
func TestLeasesAreTheElectorate(t *testing.T) {
	t.Parallel()
	hosts, agents := pretend(t, "a", "b", "c")
	a := hosts[0]
	j := startLive(t, Config{
		Replicas: 2, Agents: agents, Places: []int{0, 0, 0, 1, 1, 2}, Limit: 25 * time.Second,
		HeartbeatPeriod: 50 * time.Millisecond, HeartbeatTimeout: 500 * time.Millisecond,
	}, "sleeps", 3*time.Second)
	j.pids()
	a.mu.Lock()
	a.cut = true
	all := append([]*pretendedProcess(nil), a.all...)
	a.mu.Unlock()
	for _, p := range all {
		p.Process.Signal(unix.SIGSTOP)
	}
	time.Sleep(2500 * time.Millisecond) // longer than a side without a quorum waits
	a.lose()
	o := j.end()
	if o.report.ExitCode != 0 || len(o.report.Deaths) != 3 || !strings.HasSuffix(o.stderr, "banyan: host a is lost: ranks 0-2 had replicas there\n") {
		t.Errorf("%q, %+v", o.stderr, o.report)
	}
}

// Only a job whose agents have leases tells its processes that leases decide.
func TestLeased(t *testing.T) {
	local, err := agent.NewLocal()
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	_, agents := pretend(t, "a")
	for _, x := range []struct {
		c    Config
		want bool
	}{
		{Config{}, false},
		{Config{Agents: []agent.Agent{local}}, false},
		{Config{Agents: append([]agent.Agent{local}, agents...)}, true},
		{Config{Arrivals: make(chan Arrival)}, true},
	} {
		p := plan{Config: x.c}
		if p.leased() != x.want {
			t.Errorf("%+v: leased is %v", x.c, p.leased())
		}
	}
}
