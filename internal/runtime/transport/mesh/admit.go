package mesh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/transport"
)

// A Proc that has died may be given to another process, under a higher incarnation. Each side of a
// handshake names its own incarnation, under its proof: so a link always joins two certain
// incarnations. News of another one (a connection that was being made, the outcome of a liveness
// probe) is dropped.

var _ transport.Admitter = (*Transport)(nil)

// Admit implements transport.Admitter.
func (t *Transport) Admit(who proto.Proc, incarnation proto.Incarnation) {
	if t.closed || incarnation <= t.incarnations[who] {
		return
	}
	t.Fence(who)
	t.incarnations[who] = incarnation
	t.table.admit(who, incarnation)
	t.peers[who] = nil
	t.peer(who) // a new one; a caller that still has the old one sees that it is fenced
}

// awaitCard is cardOf, but waits for the card: other processes may have admitted a replacement
// before this one hears where the replacement is.
func (d *dialler) awaitCard(ctx context.Context, p proto.Proc, incarnation proto.Incarnation) (Card, error) {
	deadline := time.Now().Add(d.limit)
	for pause := (handshake.Backoff{Next: firstPause, Max: lastPause}); ; pause.Pause(ctx) {
		card, err := d.cardOf(p, incarnation)
		if !errors.Is(err, errOld) || !d.table.dialling(p, incarnation) || ctx.Err() != nil || time.Now().After(deadline) {
			return card, err
		}
	}
}

// errOld is about a process of which only its predecessor's card is known.
var errOld = errors.New("its card is of a former incarnation")

// errReplaced is about a process that another one has replaced.
var errReplaced = errors.New("another process has replaced it")

// cardOf is the business card of a peer in one incarnation.
func (d *dialler) cardOf(p proto.Proc, incarnation proto.Incarnation) (Card, error) {
	card, err := d.resolve(p)
	switch {
	case err != nil:
		return Card{}, err
	case card.Incarnation > incarnation:
		return Card{}, errReplaced
	case card.Incarnation < incarnation:
		return Card{}, fmt.Errorf("%w: %d, not %d", errOld, card.Incarnation, incarnation)
	}
	return card, nil
}
