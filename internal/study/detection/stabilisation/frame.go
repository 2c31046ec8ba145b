package stabilisation

import (
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
)

// frame is a message of the detector, in as little memory as it takes: a broadcast has
// millions under way.
type frame struct {
	kind        detector.ActionKind
	ask         bool
	cube, tree  uint8
	view        uint32
	incarnation proto.Incarnation
	source      proto.Proc
	digest      detector.Digest
	gone        []detector.Entry
}

// Kind is called by the network.
func (f frame) Kind() uint8 { return uint8(f.kind) }

// newFrame is the message of an action that sends.
func newFrame(a *detector.Action) frame {
	f := frame{kind: a.Kind, ask: a.Ask}
	switch a.Kind {
	case detector.SendHeartbeat, detector.SendObserve:
		f.view, f.incarnation, f.digest = a.Beat.View, a.Beat.Incarnation, a.Beat.Digest
	case detector.SendEviction:
		f.incarnation = a.Incarnation
	default:
		b := &a.Bulletin
		f.view, f.incarnation, f.source, f.cube, f.tree, f.gone = b.View, b.Incarnation, b.Source, b.Cube, b.Tree, b.Gone
	}
	return f
}

// hand hands the message to its receiver's machine.
func (f *frame) hand(m *detector.Machine, now proto.Time, from proto.Proc, out *detector.Actions) {
	switch f.kind {
	case detector.SendHeartbeat:
		m.Heartbeat(now, from, f.beat(), out)
	case detector.SendObserve:
		m.Observe(now, from, f.beat(), out)
	case detector.SendNews:
		m.News(now, from, f.bulletin(), out)
	case detector.SendReconcile:
		m.Reconcile(now, from, f.bulletin(), f.ask, out)
	case detector.SendEviction:
		m.Eviction(now, from, f.incarnation, out)
	}
}

func (f *frame) beat() detector.Beat {
	return detector.Beat{View: f.view, Incarnation: f.incarnation, Digest: f.digest}
}

func (f *frame) bulletin() detector.Bulletin {
	return detector.Bulletin{
		View: f.view, Incarnation: f.incarnation, Source: f.source, Cube: f.cube, Tree: f.tree, Gone: f.gone,
	}
}
