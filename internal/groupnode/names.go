package groupnode

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// What a member logs names members as the program does, never by the machines' numbers.

// nameOf is a member's name and incarnation.
func (m *Member) nameOf(who membership.Member) string {
	if c, known := m.cards[who]; known {
		return fmt.Sprintf("%s.%d", c.Name, who.Incarnation)
	}
	return fmt.Sprintf("a process without a card, number %d", who.Proc)
}

// nameOfProc is nameOf for the member of the view in force that has a number.
func (m *Member) nameOfProc(p proto.Proc) string {
	if m.machine != nil && m.machine.View() != nil {
		if who, ok := memberOf(m.machine.View(), p); ok {
			return m.nameOf(who)
		}
	}
	return fmt.Sprintf("a former member, number %d", p)
}

func (m *Member) names(list []membership.Member) []string {
	names := make([]string, len(list))
	for i, who := range list {
		names[i] = m.nameOf(who)
	}
	return names
}

func (m *Member) departures(list []membership.Departure) []string {
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = fmt.Sprintf("%s (%v)", m.nameOf(d.Member), d.Why)
	}
	return names
}
