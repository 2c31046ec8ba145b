package views

import (
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
	next := base.Next([]membership.Departure{{Member: b, Why: membership.Died}}, []membership.Member{c})
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
		"unknown kind":    {Kind: 99},
		"no view before":  {Kind: membership.Propose, Number: 2, View: base},
		"number":          {Kind: membership.Collect, Number: 3, Base: base},
		"position":        {Kind: membership.Collect, Number: 2, Base: base, Ballot: membership.Ballot{Position: 3}},
		"no view":         {Kind: membership.Commit, Number: 2},
		"view 1":          {Kind: membership.Commit, Number: 2, View: base},
		"from process":    {Kind: membership.Leave, From: membership.Member{Proc: -1}},
		"unknown why":     {Kind: membership.Certain, Gone: []membership.Departure{{Why: 9}}},
		"view after view": {Kind: membership.Propose, Number: 2, Base: base, View: base},
	} {
		_, err := Decode(Append(nil, &x))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
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
