package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/replica"
	"banyan/internal/runtime/wire"
)

// A process prepares for a replacement, doesn't hear that it has joined, and hears that it is dead
// from a process that has a view with it. Only then that view comes here. The replacement is dead
// then, too: a process that took it for alive would keep messages for it for ever, and never leave.
// (Run 270157 of package oneworld.)
func TestReplacementDiesBeforeItsViewComes(t *testing.T) {
	for _, leased := range []bool{false, true} {
		const late = 3
		l := layout.Uniform(2, 2)
		donor := l.Proc(l.Rank(late), 1-l.Replica(late))
		p, _ := leasedProcess(0, leased)
		p.Evidence(late, 0)
		var h wire.Header
		wire.Note{Kind: uint8(replica.Prepare), Replacement: late, Incarnation: 1}.Put(&h)
		p.noteArrived(donor, &h)
		if p.replica.Idle() || p.peers[late].state != peerJoining {
			t.Fatalf("leased %v: it isn't prepared", leased)
		}
		p.liveness.detector.Reconcile(p.now, donor, detector.Bulletin{View: 2, Source: donor,
			Gone: []detector.Entry{{Proc: late, Incarnation: 1}}}, false, &p.liveness.detectorOut)
		p.runDetector()
		members := []membership.Member{{Proc: 0}, {Proc: 1}, {Proc: 2}, {Proc: late, Incarnation: 1}}
		p.liveness.views = append(p.liveness.views, &membership.View{Number: 2, Members: members, Joined: members[late:]})
		p.adoptViews()
		if p.peers[late].state != peerDead || !p.replica.Idle() || p.Alive(late) {
			t.Errorf("leased %v: the dead replacement is %v, and this process idle: %v", leased, p.peers[late].state, p.replica.Idle())
		}
		p.Evidence(late, 1) // what the agents say later
		if p.Finish(); !p.Flushed() {
			t.Errorf("leased %v: it can't leave", leased)
		}
		p.Admit(late, proto.Incarnation(2))
		if p.peers[late].state != peerJoining {
			t.Errorf("leased %v: the next replacement is %v", leased, p.peers[late].state)
		}
	}
}
