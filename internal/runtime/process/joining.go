package process

import (
	"errors"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/runtime/state"
	"banyan/internal/runtime/wire"
)

// ErrDonor ends a replacement whose donor has died.
var ErrDonor = errors.New("the replica whose state this process was to take over has died")

// ErrUnwanted ends a replacement for which others would have to keep too much.
var ErrUnwanted = errors.New("too much had to be kept for this process until it has joined: sends waited for room")

// Hopeless tells whether what has ended a replacement would end any other, too: the same program
// would register a state again that differs from the donor's.
func Hopeless(err error) bool { return errors.Is(err, state.ErrDiffers) }

// joining is a replacement's part in its own healing.
type joining struct {
	donor     proto.Proc // NoProc until its log comes
	decoder   *state.Decoder
	restored  func() error
	failed    bool // it can't join any more: whatever still comes, it doesn't
	committed bool
	healed    bool
	bereaved  []proto.Rank // ranks of which a replica has died before the state came
}

// AwaitState says that this replacement's program is at its first safe point. The donor's state
// goes to the decoder. Once it is whole, restored is called, under the same lock as all calls:
// it must Restore the library's part.
func (p *Process) AwaitState(decoder *state.Decoder, restored func() error) {
	j := p.healing.joining
	j.decoder, j.restored = decoder, restored
	p.send(j.donor, p.nextHeader(wire.KindReady), nil, 0)
}

// Joined tells whether this process, if it was started as a replacement, has joined or never
// will.
func (p *Process) Joined() bool {
	return p.healing.joining == nil || p.healing.joining.healed || p.lifecycle.fenced
}

// HealFailed says that this replacement can't join: it must stop.
func (p *Process) HealFailed(err error) {
	if j := p.healing.joining; !j.failed {
		j.failed = true
		p.host.HealFailed(err)
	}
}

// failJoining ends a replacement.
func (p *Process) failJoining(err error) {
	if p.healing.replay != nil {
		p.failReplay(err)
		return
	}
	p.HealFailed(err)
}

// GiveUpJoining ends this replacement, because of why, unless it has joined. It returns false if it
// has.
func (p *Process) GiveUpJoining(why error) bool {
	j := p.healing.joining
	if j == nil || j.committed {
		return false
	}
	p.failJoining(why)
	return true
}

// stateArrived takes the next bytes of the donor's state.
func (p *Process) stateArrived(from proto.Proc, payload []byte) {
	j := p.healing.joining
	if j == nil || j.failed || j.committed || j.decoder == nil || from != j.donor {
		return
	}
	if err := j.decoder.Write(payload); err != nil {
		p.failJoining(err)
		return
	}
	if !j.decoder.Whole() {
		return
	}
	if err := j.restored(); err != nil {
		p.failJoining(err)
		return
	}
	p.admitJoining()
	j.committed = true
	p.host.Heals(StepCommitted)
	p.shutdown = p.shutdown.Rejoin(p.peers.incarnations(), p.goneForGood()) // some may have finished
	p.replica.Commit(&p.replicaOut)
	p.runReplica()
	p.orderCommit()
	p.onceCommit()
	for _, rank := range j.bereaved {
		if p.replica.Lost(rank) && !slices.Contains(p.lifecycle.lost, rank) {
			p.rankGone(rank)
		}
	}
	p.joinView()
}
