package once

import (
	"bytes"
	"testing"
)

// A message travels whole, and what doesn't come from AppendMessage is an error.
func FuzzParseMessage(f *testing.F) {
	for _, m := range []Message{
		{Kind: ResultIs, Key: Key{1, 2, 3}, Result: Result{true, []byte("data")}},
		{Kind: ResultIs, Key: Key{1 << 63, 2, 3}, Result: Result{false, []byte{}}},
		{Kind: Known, Key: Key{7, 0, 0}},
		{Kind: Claim}, {Kind: Claimed},
	} {
		f.Add(AppendMessage(nil, m), m.Result.Data)
	}
	f.Fuzz(func(t *testing.T, head, data []byte) {
		m, err := ParseMessage(head, data)
		if err != nil {
			return
		}
		again, err := ParseMessage(AppendMessage(nil, m), data)
		if err != nil || again.Kind != m.Kind || again.Key != m.Key || again.Result.Heavy != m.Result.Heavy || !bytes.Equal(again.Result.Data, m.Result.Data) {
			t.Errorf("%+v became %+v: %v", m, again, err)
		}
	})
}

// A state that isn't one is an error.
func FuzzRestore(f *testing.F) {
	m := New(Config{Degree: 3, Self: 0})
	var out Actions
	m.Admit(1, 0, &out)
	f.Add(m.AppendState(nil, 1))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, state []byte) {
		r := New(Config{Degree: 3, Self: 1, Joins: true})
		if err := r.Restore(state); err != nil {
			return
		}
		var out Actions
		r.Commit(&out)
		r.Reach(Key{1, 1, 1}, &out)
	})
}
