package detector

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// invariants is what must hold after each step.
func (m *Machine) invariants() error {
	ring := m.cfg.View.Ring
	if !m.gone.valid(ring) {
		return fmt.Errorf("the list %v isn't sorted", m.gone)
	}
	if len(m.tellers) != len(m.gone) {
		return fmt.Errorf("%d tellers of %d", len(m.tellers), len(m.gone))
	}
	if digestOf(m.gone) != m.digest() {
		return fmt.Errorf("the digest isn't that of %v", m.gone)
	}
	for i, e := range m.gone {
		held := slices.ContainsFunc(m.held, func(h holding) bool { return h.proc == e.Proc })
		switch {
		case e.Proc == m.cfg.Self:
			return fmt.Errorf("it holds itself for gone")
		case e.Incarnation < m.cfg.View.of(e.Proc):
			return fmt.Errorf("%v is of an incarnation before the view's", e)
		case !e.Left && m.tellers[i] == proto.NoProc && !held && m.oweUntil == proto.Never:
			return fmt.Errorf("it knows of %v from nobody who told all, and doesn't hold it", e)
		}
	}
	if m.emitter != m.counterclockwise(ring.Prev(m.cfg.Self)) {
		return fmt.Errorf("the emitter is %v, not the nearest", m.emitter)
	}
	if m.observer != proto.NoProc && !m.live(m.observer) {
		return fmt.Errorf("the observer %v is gone", m.observer)
	}
	if m.owesNews() && m.oweUntil == proto.Never {
		return fmt.Errorf("it owes news")
	}
	return nil
}

// FuzzMachine feeds arbitrary input to a machine of nine processes. The input may deceive it,
// since it trusts its peers, but may not put it into an impossible state.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{3, 1, 1, 0, 0, 0, 1, 2, 0, 0, 9, 9})
	f.Add([]byte{4, 1, 1, 0, 0, 0, 2, 1, 0, 0, 3, 1, 0, 0})
	f.Add([]byte{5, 0, 0, 0, 0, 0, 0, 0, 6, 8, 1, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		next := func() int {
			if len(in) == 0 {
				return 0
			}
			b := in[0]
			in = in[1:]
			return int(b)
		}
		var out Actions
		now := proto.Time(0)
		m := New(Config{Self: 4, Incarnation: 1, View: &View{Ring: topology.IdentityRing(9),
			Incarnations: []proto.Incarnation{0, 0, 0, 0, 1, 0, 2, 0, 0}}, Period: eta, Timeout: delta, Witness: next()%2 == 1, Opinions: uint8(next() % 4)}, now, &out)
		for len(in) > 0 {
			kind, from := next()%9, proto.Proc(next()%11)-1
			beat := Beat{View: uint32(next() % 3), Incarnation: proto.Incarnation(next() % 3)}
			now += proto.Time(next()) * 16
			b := Bulletin{View: beat.View, Incarnation: beat.Incarnation, Source: proto.Proc(next()%11) - 1, Cube: uint8(next()), Tree: uint8(next())}
			for range next() % 12 {
				b.Gone = append(b.Gone, Entry{Proc: proto.Proc(next()%11) - 1, Incarnation: proto.Incarnation(next() % 3), Left: next()%2 == 1})
			}
			if next()%2 == 0 { // as a correct peer would send it
				slices.SortFunc(b.Gone, func(a, b Entry) int { return int(a.Proc) - int(b.Proc) })
				b.Gone = slices.CompactFunc(b.Gone, func(a, b Entry) bool { return a.Proc == b.Proc })
			}
			beat.Digest = Digest{Hash: binary.LittleEndian.Uint64(append(slices.Clone(in), 0, 0, 0, 0, 0, 0, 0, 0))}
			out = out[:0]
			switch kind {
			case 0:
				m.Tick(now, &out)
			case 1:
				m.Heartbeat(now, from, beat, &out)
			case 2:
				m.Observe(now, from, beat, &out)
			case 3:
				m.News(now, from, b, &out)
			case 4:
				m.Reconcile(now, from, b, b.Tree%2 == 0, &out)
			case 5:
				m.Left(now, from, beat.Incarnation, &out)
			case 6:
				m.Evidence(now, from, beat.Incarnation, &out)
			case 8:
				m.Probe(now, from, beat, Probe{ProbeStage(next() % 5), proto.Proc(next()%11) - 1, proto.Proc(next()%11) - 1, proto.Incarnation(next() % 3)}, &out)
			case 7:
				m.Stranger(now, from, beat.Incarnation, &out)
			}
			if err := m.invariants(); err != nil {
				t.Fatal(err)
			}
			for i := range out {
				a := &out[i]
				if a.Kind < ReportDeath && a.Kind != SendEviction && (a.To == 4 || m.cfg.View.Ring.Position(a.To) < 0) && !slices.ContainsFunc(m.extra, func(g extraObserver) bool { return g.proc == a.To }) {
					t.Fatalf("a message of kind %d to %v", a.Kind, a.To)
				}
			}
		}
	})
}
