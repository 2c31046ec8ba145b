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

// A Proc that has died may be given to another process, under a higher incarnation.
// Each side of a handshake says its own, under its proof: so a link is always one of
// two certain lives, and what is told of another one (a connection that was being
// made, the outcome of an inquest) is dropped.

var _ transport.Admitter = (*Transport)(nil)

// Admit implements transport.Admitter.
func (t *Transport) Admit(who proto.Proc, incarnation proto.Incarnation) {
	if t.closed || incarnation <= t.incarnations[who] {
		return
	}
	t.Fence(who)
	t.incarnations[who] = incarnation
	t.board.admit(who, incarnation)
	t.peers[who] = nil
	t.peer(who) // anew; whoever still has the old one sees that it is fenced
}

// admit begins a link anew.
func (b *board) admit(p proto.Proc, incarnation proto.Incarnation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links[p], b.incarnations[p] = idle, incarnation
}

// awaitCard is cardOf, with patience: of a replacement that others have let in already this
// process may be about to hear where it is.
func (d *dialler) awaitCard(ctx context.Context, p proto.Proc, incarnation proto.Incarnation) (Card, error) {
	deadline := time.Now().Add(d.limit)
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		card, err := d.cardOf(p, incarnation)
		if !errors.Is(err, errOld) || !d.board.dialling(p, incarnation) || ctx.Err() != nil || time.Now().After(deadline) {
			return card, err
		}
		handshake.Pause(ctx, wait)
	}
}

// errOld is about a process of which only its predecessor's card is known.
var errOld = errors.New("its card is of a former incarnation")

// errReplaced is about a process whose place another one has taken.
var errReplaced = errors.New("another process has its place")

// cardOf is the card of a peer in one life.
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

// evidenceOf is what it says of a peer that it has no card.
func evidenceOf(err error) transport.Evidence {
	if errors.Is(err, errReplaced) {
		return transport.EvidenceExited
	}
	return transport.EvidenceLost
}
