package process

import (
	"banyan/internal/proto"
	"banyan/internal/runtime/wire"
)

// An acknowledgement lets other replicas drop their copy of a message, but nothing waits for
// it, and acknowledging few messages at a time wakes the replica again and again. So a
// process collects what it owes, up to these bounds: how many arrivals, how many bytes, for how
// long. More had better not wait: what isn't acknowledged is kept by other replicas, in memory
// that should stay in their caches.
const (
	acksOwedLimit = 64
	acksOwedBytes = 32 << 10
	acksOwedTime  = proto.Time(5e6)
)

// ackState is what is owed to other replicas.
type ackState struct {
	bytes   int        // arrived, and not acknowledged
	due     proto.Time // when what is owed has to go; 0: no time is set, and it goes at the next Tick
	records []wire.Ack // decoded ones of a frame; reused
}

// owe notes that so many bytes have arrived, after which so many arrivals are to be
// acknowledged. It tells whether that has to be now.
func (a *ackState) owe(arrivals, bytes int, now proto.Time) (flush bool) {
	a.bytes += bytes
	switch {
	case arrivals >= acksOwedLimit || a.bytes >= acksOwedBytes:
		return true
	case arrivals > 0 && a.due == 0:
		a.due = now + acksOwedTime
	}
	return false
}

// flushed notes that nothing is owed any more.
func (a *ackState) flushed() { a.bytes, a.due = 0, 0 }

// oweAck has what has arrived acknowledged, at once or later.
func (p *Process) oweAck(bytes int) {
	if p.acks.owe(p.replica.AcksOwed(), bytes, p.now) {
		p.flushAcks()
	}
}

// flushAcks tells other replicas what has arrived.
func (p *Process) flushAcks() {
	if p.replica.AcksOwed() > 0 {
		p.acks.flushed()
		p.replica.FlushAcks(&p.replicaOut)
		p.runReplica()
	}
}

// acksArrived takes the acknowledgements of another process.
func (p *Process) acksArrived(from proto.Proc, payload []byte) {
	acks, err := wire.DecodeAcks(p.acks.records[:0], payload)
	if err != nil {
		return
	}
	p.acks.records = acks
	for _, a := range acks {
		p.replica.Acked(from, a.Context, a.Seq, a.Single, &p.replicaOut)
		if p.verifying != nil {
			p.verifyAcked(from, a)
		}
	}
	p.runReplica()
}
