package succession

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
	driver "banyan/internal/job/steward"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// Of three voters the launcher and an agent are lost at the same moment. The agent that is left has
// no lease any more, and leaves word once.
func TestPartingWithoutMajority(t *testing.T) {
	key := secure.NewKey()
	l, err := driver.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	ports := map[steward.Host]wire.Ports{first: {Agent: l.Addresses()}}
	hosts := []steward.HostEntry{{Host: first}}
	left := make(chan Parting, 8)
	var members []*Member
	for h := steward.Host(1); h < leastMachines; h++ {
		m := NewMember(key, func(proto.Time) {}, func(f Parting) { left <- f }, 0, nil)
		if ports[h], err = m.Open(); err != nil {
			t.Fatal(err)
		}
		members, hosts = append(members, m), append(hosts, steward.HostEntry{Host: h, Domain: int32(h)})
	}
	ledger := steward.NewLedger(hosts, nil, steward.NoHost, false, leastMachines)
	var joined atomic.Int32
	for i, m := range members {
		c := charter{Self: hosts[i+1].Host, Domain: hosts[i+1].Domain, Voters: leastMachines, Ledger: ledger, Ports: ports, Job: "heat-4f2a1c", Error: "/e", Batch: "17"}
		if err := m.Begin(encode(c), func(remote.Lease) { joined.Add(1) }, func() bool { return false }); err != nil {
			t.Fatal(err)
		}
	}
	leading := driver.Start(driver.Config{
		Machine: machine(first, 0, leastMachines), First: ledger, Key: key, Addresses: agentPorts(ports), Party: new(dying),
	}, l)
	await(t, "both agents have leases", func() bool { return joined.Load() == 2 })
	leading.Close()
	members[0].Close()
	await(t, "the lease has ended", func() bool { return !members[1].Held() })
	members[1].Held()
	members[1].Close()
	f, err := ReadParting((<-left).Line())
	if err != nil || f.Job != "heat-4f2a1c" || f.Error != "/e" || !strings.Contains(f.Text, "couldn't reach most of the machines that vote for 5s") ||
		!strings.Contains(f.Text, "scancel 17 gives its hosts back") {
		t.Errorf("%+v, %v", f, err)
	}
	if len(left) > 0 {
		t.Errorf("it has left %+v, too", <-left)
	}
}

// An agent leaves word while it still has its lease, for it may be late to see the end; if the
// lease is renewed, or the job ends, it takes the word back.
func TestPartingInTime(t *testing.T) {
	var said []Parting
	word := Parting{Job: "heat-4f2a1c", Text: "x"}
	m := NewMember(secure.NewKey(), func(proto.Time) {}, func(f Parting) { said = append(said, f) }, 0, nil)
	m.parting, m.begun = word, true
	look := func(left proto.Time, held bool, want ...Parting) {
		t.Helper()
		m.Extend(deadline.Now() + left)
		said = nil
		for range 2 { // it says it once
			if m.Held() != held {
				t.Errorf("with %v left it is %v that it has its lease", left, !held)
			}
		}
		if !slices.Equal(said, want) {
			t.Errorf("with %v left it has said %+v, want %+v", left, said, want)
		}
	}
	look(5*forewarning, true)
	look(forewarning-2*early, true, word)
	look(5*forewarning, true, Parting{})
	look(forewarning-2*early, true, word)
	look(0, false)
	m.Over(steward.Outcome{Reason: steward.NoMajority})
	if look(0, false); len(said) > 0 {
		t.Errorf("it takes back that it has no majority: %+v", said)
	}
	m.Over(steward.Outcome{Reason: steward.Drained})
	if len(said) != 1 || said[0] != (Parting{}) {
		t.Errorf("after it was drained it has said %+v", said)
	}
}

// The launcher is lost before the voters have granted an agent's first lease. Its own lease ends
// then, and the agent leaves word; it takes that back if the voters' lease begins after all.
func TestPartingBeforeTheFirstLease(t *testing.T) {
	var said []Parting
	word := Parting{Job: "heat-4f2a1c", Text: "x"}
	m := NewMember(secure.NewKey(), func(proto.Time) {}, func(f Parting) { said = append(said, f) }, 0, nil)
	m.Ending(true) // it has no charter, and knows nothing of a job
	m.parting, m.joined = word, func(remote.Lease) {}
	for _, due := range []bool{false, true, true} {
		m.Ending(due)
	}
	if !slices.Equal(said, []Parting{word}) {
		t.Fatalf("it has said %+v", said)
	}
	m.Extend(deadline.Now() + 5*forewarning)
	m.Ending(true) // the launcher's lease doesn't count any more
	if !m.Held() || !slices.Equal(said, []Parting{word, {}}) {
		t.Errorf("with a lease from the voters it has said %+v", said)
	}
}
