package groupnode

import (
	"unicode/utf8"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// checkMetadata says what is wrong with a member's metadata.
func checkMetadata(text string) error {
	switch {
	case len(text) > membership.MaxMetadata:
		return wrong("Metadata", "%d bytes: want at most %d", len(text), membership.MaxMetadata)
	case !utf8.ValidString(text):
		return wrong("Metadata", "want UTF-8 text")
	}
	return nil
}

// SetMetadata changes what this member says of itself. The change comes with a later view.
func (m *Member) SetMetadata(text string) error {
	if err := checkMetadata(text); err != nil {
		return err
	}
	m.post(func() {
		m.machine.SetMetadata(m.now, text, &m.out)
		m.remindLater()
		m.settle()
	})
	return nil
}

// remindLater has this member repeat what it has asked for, if no view brings it.
func (m *Member) remindLater() {
	m.remindAt = min(m.remindAt, m.now+proto.Time(m.cfg.Timeout))
}
