package remote

import (
	"errors"

	"banyan/internal/job/agent/wire"
)

// Agents that take part in decisions have their lease from voters among them, and go on when the
// launcher is lost. Until the voters have granted the first lease the launcher's counts. In
// between, the launcher can't know which one the agent has: then its host is lost only if both are
// over.

// Peers joins an agent with those of other hosts (package succession). Its methods but Ending are
// called by one goroutine.
type Peers interface {
	// Open opens the agent to others.
	Open() (wire.Ports, error)
	// Begin takes part, as the launcher's words say. joined is called once, with the lease that
	// counts from then on. holds says whether a process runs there, or the agent has output that
	// the launcher hasn't released.
	Begin(words []byte, joined func(Lease), holds func() bool) error
	// Meet takes the launcher's words about others.
	Meet(words []byte)
	// Ending says whether the launcher's lease is nearly over. It is called as long as that one
	// counts, because the voters' hasn't begun.
	Ending(due bool)
	// Next tells of launchers, once the agent has joined.
	Next() <-chan Successor
}

// Open opens the agent to those of other hosts.
func (r *Remote) Open() (wire.Ports, error) {
	m, err := r.await(wire.Message{Type: wire.Open})
	switch {
	case err != nil:
		return wire.Ports{}, err
	case m.Ports == nil:
		return wire.Ports{}, errors.New(m.Text)
	}
	return *m.Ports, nil
}

// Begin has the agent take part in the decisions of all. From now on it is lost when Lose says so,
// or it or its parent says that its processes are dead.
func (r *Remote) Begin(words []byte) error {
	r.mu.Lock()
	r.begun = true
	r.mu.Unlock()
	return r.say(wire.Message{Type: wire.Charter, Words: words})
}

// Meet tells the agent of others.
func (r *Remote) Meet(words []byte) error { return r.say(wire.Message{Type: wire.Meet, Words: words}) }

// Instance is a number that no other agent has.
func (r *Remote) Instance() uint64 { return r.instance }

// Lose says that the voters hold the host for lost: a lease from them is over.
func (r *Remote) Lose(reason string) {
	r.mu.Lock()
	r.verdict = reason
	joined := r.joined
	r.mu.Unlock()
	if joined {
		r.lose(reason, false)
	}
}

func (r *Remote) hasJoined() {
	r.mu.Lock()
	r.joined = true
	verdict := r.verdict
	r.mu.Unlock()
	if verdict != "" {
		r.lose(verdict, false)
	}
}

// open opens this agent to others.
func (s *server) open(m wire.Message) {
	answer := wire.Message{Type: wire.Opened, Ask: m.Ask, Text: "this agent takes no part in decisions"}
	if s.peers != nil {
		if ports, err := s.peers.Open(); err != nil {
			answer.Text = err.Error()
		} else {
			answer.Text, answer.Ports = "", &ports
		}
	}
	s.say(answer)
}

// begin has this agent take part.
func (s *server) begin(m wire.Message) {
	if s.peers == nil {
		return
	}
	if err := s.peers.Begin(m.Words, s.join, s.holds); err != nil {
		s.over(err)
	}
}

// holds says whether this agent has something that others may need.
func (s *server) holds() bool {
	s.mu.Lock()
	living := s.living
	s.mu.Unlock()
	return living > 0 || s.link.Holds(func(id wire.Stream) bool { return isOutput(id) || id.Channel == wire.Trace })
}

func isOutput(id wire.Stream) bool { return id.Channel == wire.Stdout || id.Channel == wire.Stderr }

// join has the lease count that voters have granted.
func (s *server) join(l Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease, s.extend = l, unextended
	s.dialler.follow()
	s.say(wire.Message{Type: wire.Joined})
}
