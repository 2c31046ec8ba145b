package process

import (
	"banyan/internal/proto"
	"banyan/internal/proto/match"
)

// TakeArrived takes the oldest message of a context with a tag that has arrived, from any source,
// for ReceiveMatched. That no more can come is no error here: nobody waits.
func (p *Process) TakeArrived(context uint64, tag int32) (Handle, Status, bool) {
	token, ok := p.match.Take(match.Envelope{Context: context, Src: proto.AnyRank, Tag: tag})
	if !ok {
		return Handle{}, Status{}, false
	}
	ah, a := p.receives.arrivals.at(token)
	a.taken = true
	return ah, a.status(), true
}
