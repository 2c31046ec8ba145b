package spares

import (
	"fmt"
	"slices"

	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// What the machine does with its peers and with the user.

// number is which of the spares a peer was at first. If it wasn't a spare, the number is
// negative.
func (m *Machine) number(p *peer) int { return int(p.launcherRank) - m.layout.Procs() }

func (m *Machine) find(id int) *peer {
	if i := slices.IndexFunc(m.peers, func(p *peer) bool { return p.id == id }); i >= 0 {
		return m.peers[i]
	}
	return nil
}

// forget takes a peer out.
func (m *Machine) forget(id int) *peer {
	p := m.find(id)
	m.peers = slices.DeleteFunc(m.peers, func(p *peer) bool { return p.id == id })
	return p
}

// drop ends the connection to a peer.
func (m *Machine) drop(p *peer) {
	if m.forget(p.id) != nil {
		*m.out = append(*m.out, Action{Kind: Drop, To: p.id})
	}
}

func (m *Machine) send(p *peer, message control.Message) {
	*m.out = append(*m.out, Action{Kind: Send, To: p.id, Message: message})
}

// tellMembers sends a message to all processes that fill a slot.
func (m *Machine) tellMembers(message control.Message) {
	for _, p := range m.peers {
		if p.member {
			m.send(p, message)
		}
	}
}

// tellAll sends a message to all processes that fill a slot or are about to.
func (m *Machine) tellAll(message control.Message) {
	for _, p := range m.peers {
		if p.member || m.joining(p) {
			m.send(p, message)
		}
	}
}

// note tells the user something, once this is the spare leader.
func (m *Machine) note(text string) {
	switch {
	case text == "":
	case m.phase == following:
		m.notes = append(m.notes, text)
	default:
		*m.out = append(*m.out, Action{Kind: Note, Text: text})
	}
}

// noteOnce tells the user something that several peers may say, or that is found again and again.
func (m *Machine) noteOnce(text string) {
	if !m.noted[text] {
		m.noted[text] = true
		m.note(text)
	}
}

// name names a process for people.
func (m *Machine) name(p proto.Proc) string {
	return fmt.Sprintf("%v replica %d", m.layout.Rank(p), m.layout.Replica(p))
}
