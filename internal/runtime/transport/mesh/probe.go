package mesh

import (
	"context"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
)

const (
	// askLimit bounds the question why a connection has ended.
	askLimit = time.Second
	// exitGrace is how long the kernel may take from closing a dying process's sockets to
	// declaring the process dead.
	exitGrace = 50 * time.Millisecond
	// quietSpan is how long nothing must have come from a dead peer, whose sockets a forked child
	// holds open, before its stream counts as ended.
	quietSpan = 10 * time.Millisecond
)

// probe finds out why a peer's connection has ended, and reports it: the process has exited, or
// has fenced this one, or is just lost. It closes the pidfd.
func (d *dialler) probe(ctx context.Context, p proto.Proc, incarnation proto.Incarnation, pidfd int) {
	d.table.post(news{peer: p, incarnation: incarnation, kind: ended, why: d.cause(ctx, p, incarnation, pidfd)})
}

// cause is what a liveness probe finds.
func (d *dialler) cause(ctx context.Context, p proto.Proc, incarnation proto.Incarnation, pidfd int) transport.Evidence {
	if pidfd >= 0 {
		defer handle{pidfd: pidfd}.close()
		if exits(pidfd, exitGrace) {
			return transport.EvidenceExited
		}
	}
	card, err := d.cardOf(p, incarnation)
	if err != nil {
		return transport.EvidenceLost // a party that replaced it tells of its death
	}
	if v, _, err := d.question(ctx, p, card, toAsk); err == nil && v == eviction {
		return transport.EvidenceEviction
	}
	// That nobody listens proves nothing: a firewall refuses connections, too.
	process := d.watch(card.Host == d.card.Host, card.Pid, card.Start)
	defer process.close()
	if process.ended() {
		return transport.EvidenceExited
	}
	return transport.EvidenceLost
}

// question dials a peer for its verdict only.
func (d *dialler) question(ctx context.Context, to proto.Proc, card Card, why purpose) (verdict, standing, error) {
	_, v, s, err := d.try(ctx, bound{limit: askLimit}, to, card, why)
	return v, s, err
}

// quiesce reports, after quietSpan, that a dead peer's stream should have ended.
func (d *dialler) quiesce(ctx context.Context, p proto.Proc, incarnation proto.Incarnation) {
	select {
	case <-ctx.Done():
	case <-time.After(quietSpan):
		d.table.post(news{peer: p, incarnation: incarnation, kind: quiet})
	}
}
