package detection

import (
	"reflect"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/runtime/wire"
	"banyan/internal/topology"
)

// machine is the detector of one of eight processes, which has just started.
func machine(self proto.Proc) *detector.Machine {
	var out detector.Actions
	view := &detector.View{Number: 3, Ring: topology.IdentityRing(8), Incarnations: make([]proto.Incarnation, 8)}
	return detector.New(detector.Config{Self: self, View: view, Period: 10, Timeout: 100}, 0, &out)
}

// TestDeliver: a machine that hears an action through a frame does the same as one that hears it
// directly.
func TestDeliver(t *testing.T) {
	beat := detector.Beat{View: 3, Incarnation: 0, Digest: detector.Digest{Count: 2, Hash: 0x0123456789abcdef}}
	gone := []detector.Entry{{Proc: 5}, {Proc: 6, Left: true}}
	bulletin := detector.Bulletin{View: 3, Source: 4, Cube: 1, Tree: 2, Gone: gone}
	reconcile := detector.Bulletin{View: 3, Gone: gone}
	for name, c := range map[string]struct {
		action detector.Action
		direct func(m *detector.Machine, out *detector.Actions)
	}{
		"heartbeat": {detector.Action{Kind: detector.SendHeartbeat, Beat: beat},
			func(m *detector.Machine, out *detector.Actions) { m.Heartbeat(1, 1, beat, out) }},
		"observe": {detector.Action{Kind: detector.SendObserve, Beat: beat},
			func(m *detector.Machine, out *detector.Actions) {
				m.Observe(1, 1, detector.Beat{View: 3}, out)
			}},
		"news": {detector.Action{Kind: detector.SendNews, Bulletin: bulletin},
			func(m *detector.Machine, out *detector.Actions) { m.News(1, 1, bulletin, out) }},
		"reconcile": {detector.Action{Kind: detector.SendReconcile, Bulletin: reconcile, Ask: true},
			func(m *detector.Machine, out *detector.Actions) { m.Reconcile(1, 1, reconcile, true, out) }},
		"probe": {detector.Action{Kind: detector.SendProbe, Beat: detector.Beat{View: 3}, Probe: detector.Probe{
			Stage: detector.ProbeAnswer, Observer: 5, Suspect: 1, Incarnation: 7,
		}},
			func(m *detector.Machine, out *detector.Actions) {
				m.Probe(1, 1, detector.Beat{View: 3}, detector.Probe{Stage: detector.ProbeAnswer, Observer: 5, Suspect: 1, Incarnation: 7}, out)
			}},
		"eviction": {detector.Action{Kind: detector.SendEviction, Incarnation: 7},
			func(m *detector.Machine, out *detector.Actions) { m.Eviction(1, 1, 7, out) }},
	} {
		t.Run(name, func(t *testing.T) {
			var h wire.Header
			payload, sends := Encode(&c.action, &h, nil)
			if !sends {
				t.Fatal("it isn't sent")
			}
			var got, want detector.Actions
			through, direct := machine(2), machine(2)
			Deliver(through, 1, 1, &h, payload, &got)
			c.direct(direct, &want)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(through, direct) {
				t.Errorf("through a frame\n%+v\ndirectly\n%+v", got, want)
			}
		})
	}
	var h wire.Header
	if _, sends := Encode(&detector.Action{Kind: detector.ReportDeath}, &h, nil); sends || h != (wire.Header{}) {
		t.Errorf("a report is sent as %+v", h)
	}
}

// FuzzDeliver: no frame makes the machine panic.
func FuzzDeliver(f *testing.F) {
	f.Add(uint8(wire.KindNews), uint64(3), uint64(1), int32(0), uint8(1), []byte("some entries of the gone"))
	f.Fuzz(func(t *testing.T, kind uint8, seq, context uint64, aux int32, flags uint8, payload []byte) {
		var out detector.Actions
		h := wire.Header{Kind: wire.Kind(kind), Seq: seq, Context: context, Aux: aux, Flags: flags, Src: proto.Rank(aux), Tag: aux}
		Deliver(machine(2), 1, 1, &h, payload, &out)
	})
}
