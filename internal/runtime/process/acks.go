package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/replica"
	"banyan/internal/runtime/wire"
)

// ackState is what is owed to other replicas.
type ackState struct {
	replica.AckPace
	records []wire.Ack // decoded ones of a frame; reused
}

// oweAck has what has arrived acknowledged, at once or later.
func (p *Process) oweAck(bytes int) {
	if p.acks.Owe(p.replica.AcksOwed(), bytes, p.now) {
		p.flushAcks()
	}
}

// flushAcks tells other replicas what has arrived.
func (p *Process) flushAcks() {
	if p.replica.AcksOwed() > 0 {
		p.acks.Flushed()
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
