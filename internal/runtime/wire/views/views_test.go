package views

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

func examples() []*membership.Message {
	a, b, c := membership.Member{Proc: 0}, membership.Member{Proc: 1}, membership.Member{Proc: 7, Incarnation: 3}
	base := membership.FirstView(4)
	gone := []membership.Departure{{Member: b, Why: membership.Silent}}
	next := base.Next([]membership.Departure{{Member: b, Why: membership.Died}}, []membership.Member{c}, membership.Metadata{Member: c, Version: 1, Bytes: "new"})
	ballot := membership.Ballot{Takeover: 1, Position: 2, Attempt: 3}
	return []*membership.Message{
		{Kind: membership.Collect, From: a, Number: 2, Ballot: ballot, Base: base, Skip: gone},
		{Kind: membership.Report, From: a, Number: 2, Ballot: ballot, View: next, Accepted: ballot, Gone: gone[:0]},
		{Kind: membership.Propose, From: a, Number: 2, Ballot: ballot, Base: base, Skip: gone, View: next},
		{Kind: membership.Ack, From: a, Number: 2, Ballot: ballot, Gone: gone},
		{Kind: membership.Commit, From: a, Number: 2, View: next},
		{Kind: membership.Current, From: c, Number: 2, View: next},
		{Kind: membership.Reject, From: a, Number: 2, Accepted: ballot},
		{Kind: membership.Ask, From: a, Number: 2, Ballot: ballot, Base: base, Skip: gone},
		{Kind: membership.Certain, From: a, Gone: gone},
		{Kind: membership.Halt, From: a, Number: 2, Ballot: ballot, Base: base},
		{Kind: membership.Join, From: c},
		{Kind: membership.Redirect, From: a, Member: b},
		{Kind: membership.Refuse, From: a, Number: 2},
		{Kind: membership.Leave, From: a},
		{Kind: membership.Eviction, From: a, Number: 2},
		{Kind: membership.Lease, From: a, Number: 2, Ballot: membership.Ballot{Attempt: 7}},
		{Kind: membership.Grant, From: b, Number: 2, Ballot: membership.Ballot{Attempt: 7}},
		{Kind: membership.Claim, From: b, Number: 2},
		{Kind: membership.Pledge, From: c},
		{Kind: membership.Update, From: c, Metadata: membership.Metadata{Member: c, Version: 2, Bytes: "newer"}},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, x := range examples() {
		if len(x.Gone) == 0 {
			x.Gone = nil
		}
		got, err := Decode(Append(nil, x))
		if err != nil || !reflect.DeepEqual(got, x) {
			t.Errorf("%v: %v\n%+v\n%+v", x.Kind, err, got, x)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, x := range examples() {
		b := Append(nil, x)
		if Size(x) != len(b) {
			t.Errorf("%v: %d bytes, not %d", x.Kind, len(b), Size(x))
		}
		for n := range b {
			if _, err := Decode(b[:n]); err == nil {
				t.Errorf("%v: %d of %d bytes are taken", x.Kind, n, len(b))
			}
		}
		if _, err := Decode(append(b, 0)); err == nil {
			t.Errorf("%v: a byte too many is taken", x.Kind)
		}
	}
}

func TestForgeriesAreRefused(t *testing.T) {
	base := membership.FirstView(3)
	for want, x := range map[string]membership.Message{
		"unknown kind":   {Kind: 99},
		"no view before": {Kind: membership.Propose, Number: 2, View: base},
		"number":         {Kind: membership.Collect, Number: 3, Base: base},
		"position":       {Kind: membership.Collect, Number: 2, Base: base, Ballot: membership.Ballot{Position: 3}},
		"no view":        {Kind: membership.Commit, Number: 2},
		"view 1":         {Kind: membership.Commit, Number: 2, View: base},
		"from process":   {Kind: membership.Leave, From: membership.Member{Proc: -1}},
		"unknown why":    {Kind: membership.Certain, Gone: []membership.Departure{{Why: 9}}},
		"step to view 1": {Kind: membership.Propose, Number: 2, Base: base, View: base},
	} {
		_, err := Decode(Append(nil, &x))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// Steps give the same views to a receiver that has the view before, or one that is behind it by
// one. To others they are errors.
func TestSteps(t *testing.T) {
	base := membership.FirstView(4)
	for _, x := range examples() {
		if x.Base == nil && x.View == nil {
			continue
		}
		if len(x.Gone) == 0 {
			x.Gone = nil
		}
		b := AppendSteps(nil, x)
		got, err := DecodeSteps(b, func(number uint64) *membership.View {
			if number == 1 {
				return base
			}
			return nil
		})
		if err != nil || !reflect.DeepEqual(got, x) {
			t.Errorf("%v: %v\n%+v\n%+v", x.Kind, err, got, x)
		}
		var unknown *UnknownError
		if _, err := Decode(b); !errors.As(err, &unknown) || unknown.Number > 2 {
			t.Errorf("%v: %v", x.Kind, err)
		}
		for n := range b {
			if _, err := DecodeSteps(b[:n], func(uint64) *membership.View { return base }); err == nil {
				t.Errorf("%v: %d of %d bytes are taken", x.Kind, n, len(b))
			}
		}
	}
	// One behind.
	dead := []membership.Departure{{Member: base.Members[3], Why: membership.Died}}
	second := base.Next(dead, nil)
	third := second.Next([]membership.Departure{{Member: base.Members[2], Why: membership.Silent}}, nil)
	x := &membership.Message{Kind: membership.Propose, From: base.Members[0], Number: 3, Base: second, View: third}
	first := func(number uint64) *membership.View { return map[uint64]*membership.View{1: base}[number] }
	if got, err := DecodeSteps(AppendSteps(nil, x), first); err != nil || got.View.Sum() != third.Sum() || !reflect.DeepEqual(got.Base.Gone, dead) {
		t.Errorf("%+v, %v", got, err)
	}
	// Another view of that number.
	other := base.Next([]membership.Departure{{Member: base.Members[1], Why: membership.Died}}, nil)
	if _, err := DecodeSteps(AppendSteps(nil, x), func(number uint64) *membership.View {
		return map[uint64]*membership.View{1: base, 2: other}[number]
	}); err == nil || !strings.Contains(err.Error(), "another one here") {
		t.Error(err)
	}
	// What a step costs doesn't grow with the group.
	large := membership.FirstView(10_000)
	next := large.Next([]membership.Departure{{Member: large.Members[7], Why: membership.Died}}, nil)
	x = &membership.Message{Kind: membership.Propose, Number: 2, Base: large, View: next, Skip: next.Gone}
	if whole, steps := len(Append(nil, x)), len(AppendSteps(nil, x)); whole < 80_000 || steps > 200 {
		t.Errorf("a proposal of %d members: %d bytes, in steps %d", len(large.Members), whole, steps)
	}
}

// Steps that no honest member sends are refused, whatever they build on.
func FuzzSteps(f *testing.F) {
	for _, x := range examples() {
		f.Add(AppendSteps(nil, x))
	}
	base := membership.FirstView(4)
	f.Fuzz(func(t *testing.T, b []byte) {
		known := func(number uint64) *membership.View {
			if number == 1 {
				return base
			}
			return nil
		}
		x, err := DecodeSteps(b, known)
		if err != nil {
			return
		}
		for _, v := range []*membership.View{x.Base, x.View} {
			if v == nil {
				continue
			}
			again, err := membership.NewView(v.Number, v.Members, v.Joined, v.Gone, v.Past)
			if err == nil {
				err = again.SetMetadata(v.Updated, v.Metadata)
			}
			if err != nil || again.Sum() != v.Sum() {
				t.Errorf("%+v: %v", v, err)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, x := range examples() {
		f.Add(Append(nil, x))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(Append(nil, x))
		if err != nil || !reflect.DeepEqual(again, x) {
			t.Errorf("%+v comes back as %+v, %v", x, again, err)
		}
		// No machine panics over it.
		v := membership.FirstView(4)
		for p := range proto.Proc(4) {
			var out membership.Actions
			m := membership.New(membership.Config{Self: membership.Member{Proc: p}}, v)
			m.Receive(0, x, &out)
			m.Receive(0, x, &out)
			m.Departed(0, membership.Member{Proc: (p + 1) % 4}, membership.Died, &out)
		}
	})
}
