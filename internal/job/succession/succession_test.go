package succession

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
	"banyan/internal/job/launcher"
	driver "banyan/internal/job/steward"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// An agent that leads starts this program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		if err := succeed(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// succeed is a launcher that goes on, keeps a state, says what it has found, and ends the job.
func succeed() error {
	s, err := Succeed(func(string) {})
	if err != nil {
		return err
	}
	state, err := s.Resumption.State.Encode()
	if err != nil {
		return err
	}
	kept := make(chan struct{})
	s.keep(state, func() { close(kept) })
	<-kept
	if err := os.WriteFile(s.Will.Report, []byte(s.Resumption.State.Name), 0o600); err != nil {
		return err
	}
	s.Finish(7)
	s.Close()
	return nil
}

// dying is the part of a launcher that keeps a state, and dies.
type dying struct {
	leads, kept atomic.Bool
}

func (d *dying) Extend(proto.Time)            {}
func (d *dying) Kill()                        {}
func (d *dying) Lead(uint64, *steward.Ledger) { d.leads.Store(true) }
func (d *dying) StepDown()                    {}
func (d *dying) Kept(uint64)                  { d.kept.Store(true) }
func (d *dying) HostLost(steward.Host)        {}
func (d *dying) HostLeft(steward.Host)        {}
func (d *dying) Follow(uint64, steward.Host)  {}
func (d *dying) Over(steward.Outcome)         {}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
	}
}

// The launcher keeps a state and dies. One of two agents leads: its process has that state, keeps
// another one, and ends the job. Both agents learn that the job is over.
func TestAgentLeads(t *testing.T) {
	key, path := secure.NewKey(), filepath.Join(t.TempDir(), "report")
	l, err := driver.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	ports := map[steward.Host]wire.Ports{first: {Agent: l.Addresses()}}
	hosts := []steward.HostEntry{{Host: first}}
	var members []*Member
	for h := steward.Host(1); h < leastMachines; h++ {
		m := NewMember(key, func(proto.Time) {}, func(f Parting) { t.Errorf("an agent of a job that is over has left %+v", f) }, 0, nil)
		if ports[h], err = m.Open(); err != nil {
			t.Fatal(err)
		}
		members, hosts = append(members, m), append(hosts, steward.HostEntry{Host: h, Domain: int32(h)})
	}
	ledger := steward.NewLedger(hosts, nil, steward.NoHost, false, leastMachines)
	var joined atomic.Int32
	for i, m := range members {
		c := charter{Self: hosts[i+1].Host, Domain: hosts[i+1].Domain, Voters: leastMachines, Ledger: ledger, Ports: ports}
		if err := m.Begin(encode(c), func(remote.Lease) { joined.Add(1) }, func() bool { return false }); err != nil {
			t.Fatal(err)
		}
	}
	party := new(dying)
	leading := driver.Start(driver.Config{
		Machine: machine(first, 0, leastMachines), First: ledger, Key: key, Addresses: agentPorts(ports), Party: party,
	}, l)
	state, err := (&launcher.State{
		Job: launcher.Description{Parts: make([]launcher.Part, 1), Degrees: []int{1}, Places: []int{0}}, Paths: []string{"/program"},
		Hosts: make([]agent.Host, 1), Lost: []bool{true}, Slots: make([]launcher.SlotState, 1), Name: "kept by the first",
	}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the launcher leads", party.leads.Load)
	await(t, "both agents have leases", func() bool { return joined.Load() == 2 })
	leading.Keep(encode(Legacy{State: state, Agents: make([]member, 1), Will: Will{Report: path}}), 1)
	await(t, "the state is kept", party.kept.Load)
	for _, m := range members {
		if !m.Held() {
			t.Error("an agent has no lease")
		}
	}
	leading.Close()
	for i, m := range members {
		await(t, "an agent knows that the job is over", func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.overAt != 0
		})
		if next := <-m.Next(); next.Term < 2 || len(next.Addresses) == 0 {
			t.Errorf("agent %d is to go to %+v", i+1, next)
		}
	}
	for _, m := range members {
		m.Close()
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "kept by the first" {
		t.Errorf("the next launcher has found %q, %v", got, err)
	}
}
