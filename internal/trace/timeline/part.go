package timeline

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Part is the part of a trace that is drawn. A long run is too much for one picture. The zero Part
// is the whole trace.
type Part struct {
	// From and To are times from the trace's beginning, in its unit. A real trace begins with its
	// first event. To is 0 for the end.
	From, To proto.Time
	// Kinds are the kinds of messages that are drawn; none for all.
	Kinds []string
}

func (p *Part) whole() bool { return p.From == 0 && p.To == 0 && len(p.Kinds) == 0 }

// which says in words which messages are in the part.
func (p *Part) which() string {
	var text string
	if p.From != 0 {
		text += fmt.Sprintf(" from %d", p.From)
	}
	if p.To != 0 {
		text += fmt.Sprintf(" to %d", p.To)
	}
	if len(p.Kinds) != 0 {
		text += " of the kinds " + strings.Join(p.Kinds, ", ")
	}
	return text
}

// clip says whether an event of a trace that begins at begin belongs to the part. A process that
// was coloured or died before the part is coloured or dead from the part's beginning.
func (p *Part) clip(e *trace.Event, begin proto.Time) bool {
	from := begin + p.From
	if p.From == 0 {
		from = 0 // clocks may differ: the first event needn't be the earliest
	}
	message := e.Peer != proto.NoProc
	switch {
	case p.To != 0 && e.Time > begin+p.To:
		return false
	case e.Time < from && message:
		return false
	case message:
		return len(p.Kinds) == 0 || slices.Contains(p.Kinds, e.Kind)
	}
	e.Time = max(e.Time, from)
	return true
}
