package link

import (
	"errors"

	"banyan/internal/job/agent/wire"
)

// Duplex is a stream in both directions.
type Duplex struct {
	*In
	*Out
}

// Duplex makes both halves of a stream here.
func (l *Link) Duplex(id wire.Stream, bounded bool) Duplex {
	return Duplex{l.In(id), l.Out(id, bounded)}
}

// Close ends what this side sends, and wants no more.
func (d Duplex) Close() error { return errors.Join(d.In.Close(), d.Out.Close()) }
