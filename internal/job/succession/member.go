package succession

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"sync"
	"time"

	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
	driver "banyan/internal/job/steward"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

const (
	// early is how long before its lease's end an agent ends by itself.
	early = 250 * proto.Time(time.Millisecond)
	// forewarning is how long before that end an agent leaves word. An agent that is late to look
	// at the clock is ended by the kernel, and says nothing more. Word is taken back if the lease
	// is renewed.
	forewarning = proto.Time(time.Second)
	// linger is how long an agent of a job that is over answers others, so that they learn it.
	linger = 2 * proto.Time(time.Second)
	// overPause is between the machine's word to kill and its word that the job is over, at most.
	overPause = 100 * proto.Time(time.Millisecond)
)

// Member is an agent's part. It implements remote.Peers.
type Member struct {
	key    secure.Key
	extend func(until proto.Time)
	leave  func(Parting)
	next   chan remote.Successor
	port   int // of the launcher that it starts if it leads, if that is free
	shown  func() []byte

	agents   *driver.Listener
	launcher *net.TCPListener
	driver   *driver.Driver
	joined   func(remote.Lease)
	files    *driver.Directory // nil: there is none

	mu       sync.Mutex
	ports    map[steward.Host]wire.Ports
	until    proto.Time // the end of the lease
	begun    bool       // it has a lease
	killed   proto.Time // when it was told that it has no more; 0: it wasn't
	overAt   proto.Time // when the job is over; 0: it isn't
	left     bool       // this host was drained, and has left
	followed remote.Successor
	leading  *leading // nil: it doesn't lead
	failing  bool     // it led, and its launcher has failed
	parting  Parting  // what it will say
	warned   bool     // it has left word
}

// NewMember makes the part of an agent. extend is told when this process must be dead, and its
// processes with it. leave is told what is to be said when they are, if the voters' lease ends: it
// must return at once. If the agent leads its launcher listens on a port, if that isn't 0 and is
// free: agents that come later look for it there. shown says what this host has shown of the job,
// for that launcher; it may be nil.
func NewMember(key secure.Key, extend func(until proto.Time), leave func(Parting), port int, shown func() []byte) *Member {
	return &Member{key: key, extend: extend, leave: leave, port: port, shown: shown, next: make(chan remote.Successor, 1)}
}

// Close ends it, with the launcher that it has started.
func (m *Member) Close() {
	if m.driver != nil {
		m.driver.Close()
	} else if m.agents != nil {
		m.agents.Close()
	}
	m.mu.Lock()
	l, over := m.leading, m.overAt != 0
	m.leading = nil
	m.mu.Unlock()
	l.wait()
	if l != nil && over {
		removeFiles(m.files)
	}
	if m.launcher != nil {
		m.launcher.Close()
	}
}

// Open implements remote.Peers.
func (m *Member) Open() (d wire.Ports, err error) {
	if m.agents == nil {
		if m.agents, err = driver.Listen(":0"); err != nil {
			return d, err
		}
		// Agents that dial it before this one leads wait in its kernel.
		socket, err := net.Listen("tcp", fmt.Sprintf(":%d", m.port))
		if err != nil && m.port != 0 { // another agent on this host has it, or the first launcher
			socket, err = net.Listen("tcp", ":0")
		}
		if err != nil {
			return d, err
		}
		m.launcher = socket.(*net.TCPListener)
	}
	return wire.Ports{Agent: m.agents.Addresses(), Launcher: remote.Addresses(m.launcher.Addr().(*net.TCPAddr).Port)}, nil
}

// Begin implements remote.Peers.
func (m *Member) Begin(words []byte, joined func(remote.Lease), holds func() bool) error {
	var c charter
	if err := decode(words, &c); err != nil {
		return err
	}
	if m.driver != nil || m.agents == nil || c.Ledger == nil {
		return errors.New("the launcher's charter comes twice, too early, or without a ledger")
	}
	m.mu.Lock() // the driver calls from its own goroutine
	defer m.mu.Unlock()
	m.joined, m.ports, m.parting = joined, c.Ports, parting(c.Job, c.Error, c.Batch)
	d := driver.Config{Machine: machine(c.Self, c.Domain, c.Voters), First: c.Ledger, Key: m.key, Addresses: agentPorts(c.Ports), Party: m, Holds: holds}
	if c.Files != "" {
		m.files = driver.OpenDirectory(c.Files, m.key)
		d.Files = m.files
		go sign(m.files, c.Self)
	}
	m.driver = driver.Start(d, m.agents)
	return nil
}

// Meet implements remote.Peers.
func (m *Member) Meet(words []byte) {
	var all additions
	if decode(words, &all) == nil && m.driver != nil {
		m.met(all)
	}
}

// met notes agents that have come.
func (m *Member) met(all additions) {
	for h, d := range all {
		m.mu.Lock()
		m.ports[h] = d
		m.mu.Unlock()
		m.driver.Meet(h, d.Agent)
	}
}

// Next implements remote.Peers.
func (m *Member) Next() <-chan remote.Successor { return m.next }

// Held implements remote.Lease. It says no a little before the lease's end, so that the agent can
// end in order.
func (m *Member) Held() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := deadline.Now()
	if m.overAt != 0 {
		return now < m.overAt+linger && now+early < m.until
	}
	if m.left { // its launcher ends it
		return now+early < m.until
	}
	held := now+early < m.until && (m.killed == 0 || now < m.killed+overPause)
	m.leaveWord(!held || now+forewarning >= m.until)
	return held
}

// leaveWord leaves word if that is due, and takes it back if it isn't any more. The lock is held.
func (m *Member) leaveWord(due bool) {
	if due = due && !m.failing && m.parting.Job != ""; due == m.warned {
		return
	}
	if m.warned = due; due {
		m.leave(m.parting)
	} else {
		m.leave(Parting{})
	}
}

// Ending implements remote.Peers. The launcher may be lost before the voters have granted the first
// lease: then nobody else says why the processes have ended.
func (m *Member) Ending(due bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.begun {
		m.leaveWord(due)
	}
}

// Extend implements driver.Party.
func (m *Member) Extend(until proto.Time) {
	m.mu.Lock()
	first := !m.begun
	if m.killed != 0 { // what there was is over, and this agent ends
		m.mu.Unlock()
		return
	}
	m.begun, m.until = true, until
	m.mu.Unlock()
	if first {
		m.joined(m)
		m.mu.Lock()
		m.tell()
		m.mu.Unlock()
	}
	m.extend(until)
}

// Kill implements driver.Party. The agent has ended by itself before its lease's end: see Held.
func (m *Member) Kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.killed == 0 {
		m.killed = deadline.Now()
	}
}

// Follow implements driver.Party.
func (m *Member) Follow(term uint64, leader steward.Host) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.followed = remote.Successor{Term: term, Addresses: m.ports[leader].Launcher}
	m.tell()
}

// tell has the agent go to the launcher of the last term. The lock is held.
func (m *Member) tell() {
	if !m.begun || m.followed.Term < 2 {
		return
	}
	select {
	case <-m.next: // it is old
	default:
	}
	m.next <- m.followed
}

// Lead implements driver.Party.
func (m *Member) Lead(term uint64, l *steward.Ledger) {
	d := mandate{Key: m.key.Line(), Term: term, Legacy: l.State, Hosts: l.Hosts}
	if m.shown != nil {
		d.Shown = m.shown()
	}
	slog.Debug("succession: leads", "term", term, "state", len(l.State))
	m.mu.Lock()
	defer m.mu.Unlock()
	d.Ports = maps.Clone(m.ports)
	m.leading.end()
	m.leading = lead(d, m.launcher, m.driver, m.failed, m.met)
}

// failed ends this agent because its launcher has failed: another one leads then.
func (m *Member) failed(err error) {
	slog.Debug("succession: the launcher has failed", "err", err)
	m.mu.Lock()
	m.failing = true
	m.mu.Unlock()
	m.Kill()
}

// StepDown implements driver.Party.
func (m *Member) StepDown() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leading.end()
	m.leading = nil
}

// Kept implements driver.Party.
func (m *Member) Kept(number uint64) { m.instruct(word{Kept: number}) }

// HostLost implements driver.Party.
func (m *Member) HostLost(h steward.Host) { m.instruct(word{Lost: []steward.Host{h}}) }

// HostLeft implements driver.Party.
func (m *Member) HostLeft(h steward.Host) { m.instruct(word{Left: []steward.Host{h}}) }

func (m *Member) instruct(w word) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leading.say(w)
}

// Over implements driver.Party.
func (m *Member) Over(how steward.Outcome) {
	slog.Debug("succession: over", "why", how.Reason)
	m.mu.Lock()
	defer m.mu.Unlock()
	if how.Reason != steward.NoMajority {
		m.parting = Parting{}
		m.leaveWord(false)
	}
	switch how.Reason {
	case steward.Drained:
		m.left = true
	case steward.Finished:
		m.overAt = deadline.Now()
		m.leading.say(word{Over: true})
	}
}

var (
	_ remote.Peers = (*Member)(nil)
	_ driver.Party = (*Member)(nil)
)
