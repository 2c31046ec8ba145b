// Package detection turns what the failure detector sends into frames and back, for jobs and groups
// alike. Package wire carries the frames and knows no protocol; this package knows the one.
package detection

import (
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/wire"
)

// Encode makes h the header of the message that an action sends. It appends the payload to scratch
// and returns it. sends is false if the action is of another kind; then h is unchanged.
func Encode(a *detector.Action, h *wire.Header, scratch []byte) (payload []byte, sends bool) {
	switch a.Kind {
	case detector.SendHeartbeat:
		EncodeHeartbeat(a.Beat, h)
	case detector.SendObserve:
		wire.Observe{Stamp: stamp(a.Beat.View, a.Beat.Incarnation)}.Put(h)
	case detector.SendNews:
		b := &a.Bulletin
		wire.News{Stamp: stamp(b.View, b.Incarnation), Source: b.Source, Cube: b.Cube, Tree: b.Tree}.Put(h)
		scratch = appendGone(scratch, b.Gone)
	case detector.SendReconcile:
		b := &a.Bulletin
		wire.Reconcile{Stamp: stamp(b.View, b.Incarnation), Ask: a.Ask}.Put(h)
		scratch = appendGone(scratch, b.Gone)
	case detector.SendProbe:
		x := &a.Probe
		wire.Probe{
			Stamp: stamp(a.Beat.View, a.Beat.Incarnation), Stage: uint8(x.Stage), Observer: x.Observer, Suspect: x.Suspect,
			Answerer: x.Incarnation,
		}.Put(h)
	case detector.SendEviction:
		wire.Eviction{Incarnation: a.Incarnation}.Put(h)
	default:
		return scratch, false
	}
	return scratch, true
}

// EncodeHeartbeat makes h the header of a heartbeat.
func EncodeHeartbeat(b detector.Beat, h *wire.Header) {
	wire.Heartbeat{Stamp: stamp(b.View, b.Incarnation), Count: b.Digest.Count, Hash: b.Digest.Hash}.Put(h)
}

// Deliver gives a frame of the detector to its machine. It ignores frames of other kinds.
func Deliver(m *detector.Machine, now proto.Time, from proto.Proc, h *wire.Header, payload []byte, out *detector.Actions) {
	switch h.Kind {
	case wire.KindHeartbeat:
		f := h.Heartbeat()
		m.Heartbeat(now, from, detector.Beat{
			View: f.View, Incarnation: f.Incarnation, Digest: detector.Digest{Count: f.Count, Hash: f.Hash},
		}, out)
	case wire.KindObserve:
		f := h.Observe()
		m.Observe(now, from, detector.Beat{View: f.View, Incarnation: f.Incarnation}, out)
	case wire.KindNews:
		f := h.News()
		m.News(now, from, detector.Bulletin{
			View: f.View, Incarnation: f.Incarnation, Source: f.Source, Cube: f.Cube, Tree: f.Tree, Gone: decodeGone(payload),
		}, out)
	case wire.KindReconcile:
		f := h.Reconcile()
		m.Reconcile(now, from, detector.Bulletin{
			View: f.View, Incarnation: f.Incarnation, Gone: decodeGone(payload),
		}, f.Ask, out)
	case wire.KindProbe:
		f := h.Probe()
		m.Probe(now, from, detector.Beat{View: f.View, Incarnation: f.Incarnation}, detector.Probe{
			Stage: detector.ProbeStage(f.Stage), Observer: f.Observer, Suspect: f.Suspect, Incarnation: f.Answerer,
		}, out)
	case wire.KindEviction:
		m.Eviction(now, from, h.Eviction().Incarnation, out)
	}
}

func stamp(view uint32, incarnation proto.Incarnation) wire.Stamp {
	return wire.Stamp{View: view, Incarnation: incarnation}
}

func appendGone(b []byte, gone []detector.Entry) []byte {
	for _, e := range gone {
		b = wire.AppendGone(b, wire.Gone(e))
	}
	return b
}

// decodeGone makes a new list for each message, because the detector may keep it.
func decodeGone(payload []byte) []detector.Entry {
	gone := make([]detector.Entry, len(payload)/wire.GoneSize)
	for i := range gone {
		gone[i] = detector.Entry(wire.DecodeGone(payload[i*wire.GoneSize:]))
	}
	return gone
}
