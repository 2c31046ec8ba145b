package groupnode

import (
	"errors"

	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire/views"
)

// This file is about views that come as steps: as what has changed since the view before, which a
// member has. So a change costs as much in a large group as in a small one. Only joiners get whole
// views.

const (
	// keptViews is how many views a member keeps, for messages of one that lags behind.
	keptViews = 4
	// maxHeld bounds how many messages wait for a view.
	maxHeld = 64
)

// heldMessage waits for the view that it builds on.
type heldMessage struct {
	from    *stream
	message []byte
}

// keepView keeps a view in force, to make others of.
func (m *Member) keepView(v *membership.View) {
	if m.recent = append(m.recent, v); len(m.recent) > keptViews {
		m.recent = append([]*membership.View(nil), m.recent[1:]...)
	}
	m.retry = len(m.held) > 0
}

// knownView is the view of a number, nil if it isn't here. It may be in force for the machine
// only, while the disk is busy.
func (m *Member) knownView(number uint64) *membership.View {
	if m.machine == nil || number == 0 {
		return nil
	}
	if v := m.machine.View(); v != nil && v.Number == number {
		return v
	}
	for i := range m.out {
		if v := m.out[i].View; m.out[i].Kind == membership.Install && v.Number == number {
			return v
		}
	}
	for _, v := range m.recent {
		if v.Number == number {
			return v
		}
	}
	return nil
}

// membershipMessage takes in a message of the membership, with its envelope. A message may come
// before the view that it builds on: to a joiner whose first view was lost with the member that
// should have sent it. It asks again to be let in, and gets the view so.
func (m *Member) membershipMessage(s *stream, message []byte) {
	err := m.membershipFrame(s, message)
	var unknown *views.UnknownError
	switch {
	case err == nil:
	case errors.As(err, &unknown) && (m.machine == nil || m.machine.View() == nil || unknown.Number > m.machine.View().Number):
		if len(m.held) < maxHeld {
			m.held = append(m.held, heldMessage{s, message})
		}
	case errors.As(err, &unknown):
		m.log.Debug("message dropped: it is of a member that lags behind", "from", m.nameOf(s.from), "err", err)
	default:
		m.log.Warn("message dropped", "from", m.nameOf(s.from), "err", err)
	}
}

// retryHeld takes in what was held, now that there is another view.
func (m *Member) retryHeld() {
	held := m.held
	m.held = nil
	for _, h := range held {
		if m.streams[h.from.from] == h.from {
			m.membershipMessage(h.from, h.message)
		}
	}
}
