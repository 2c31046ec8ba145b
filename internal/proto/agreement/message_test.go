package agreement

import (
	"reflect"
	"testing"
)

var messages = []Message{
	{Kind: KindContribution, Number: 1, Value: Value{Flags: 7}},
	{Kind: KindContribution, Number: 300, Root: 2, Decided: 298, Stable: 297, Value: Value{
		Flags: 1 << 63, Missing: Set{2}, Failed: Set{3, 4}, Acknowledged: Set{1}, Payload: []byte("sum")}},
	{Kind: KindAccepted, Number: 2, Root: 99, Accepted: 3, Value: Value{Failed: Set{0, 1 << 35}}},
	{Kind: KindDecision, Number: 1 << 40, Root: 1, Stable: 1<<40 - 1},
	{Kind: KindContribution, Number: 9, Value: Value{Flags: 1, Missing: Set{4}, Left: Set{4}}},
	{Kind: KindPrompt, Number: 9, Root: 1},
	{Kind: KindHeld}, {Kind: KindAsk}, {Kind: KindForget}, {Kind: KindAbsent}, {Kind: KindThrough},
}

func TestMessage(t *testing.T) {
	for _, m := range messages {
		b := m.Append(nil)
		if got, err := Parse(b, 100); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v is read as %+v, %v", m, got, err)
		}
		for cut := range b {
			if m.Kind != KindContribution && m.Kind != KindAccepted {
				continue
			}
			if got, err := Parse(b[:cut], 100); err == nil && len(m.Value.Payload) == 0 {
				t.Errorf("%d bytes of %+v are read as %+v", cut, m, got)
			}
		}
	}
	if m := (Message{Kind: KindContribution, Number: 1}); len(m.Append(nil)) > 8 {
		t.Errorf("the usual report has %d bytes", len(m.Append(nil)))
	}
}

// FuzzParse: whatever bytes come, Parse returns, and what it takes it would write likewise.
func FuzzParse(f *testing.F) {
	for _, m := range messages {
		f.Add(m.Append(nil), 100)
	}
	f.Add([]byte{1, 1, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 64)
	f.Fuzz(func(t *testing.T, b []byte, members int) {
		members = 1 + members&0xffff
		m, err := Parse(b, members)
		if err != nil {
			return
		}
		again, err := Parse(m.Append(nil), members)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("%+v is read as %+v, %v", m, again, err)
		}
		for _, s := range []Set{m.Value.Missing, m.Value.Failed, m.Value.Acknowledged, m.Value.Left} {
			if s.limit() > members {
				t.Errorf("%v of %d members", s, members)
			}
		}
	})
}

func TestOpens(t *testing.T) {
	for _, m := range messages {
		want := m.Kind == KindContribution && m.Decided == 0
		if m.Opens() != want {
			t.Errorf("%+v opens: %v", m, m.Opens())
		}
	}
}

func TestKindNames(t *testing.T) {
	if KindAsk.String() != "ask" || Kind(0).String() != "kind 0" || Kind(99).String() != "kind 99" {
		t.Error(KindAsk, Kind(0), Kind(99))
	}
}

func TestSet(t *testing.T) {
	a := Set(nil).With(3).With(70)
	b := Set(nil).With(70).With(200)
	if u := a.Union(b); !reflect.DeepEqual(u.AppendMembers(nil), []int{3, 70, 200}) || u.Len() != 3 || u.limit() != 201 {
		t.Error(u)
	}
	if i := a.Intersection(b); !i.Equal(Set(nil).With(70)) {
		t.Error(i)
	}
	if m := b.Minus(a); !m.Equal(Set(nil).With(200)) || !a.Minus(a).Empty() || a.Minus(a) != nil {
		t.Error(m)
	}
	if w := b.Without(200); !w.Equal(Set(nil).With(70)) || len(w) != 2 || !b.Has(200) || w.Has(200) {
		t.Error(w)
	}
	if Set(nil).limit() != 0 || Set(nil).Has(5) {
		t.Error("the empty set has members")
	}
}
