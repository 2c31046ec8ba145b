// Package channel finds what a protocol keeps for each channel: each pair of a context and the
// rank at the other end, over which messages are numbered.
//
// A Table remembers for each rank the channel that was looked up last, because a program mostly
// uses one context at a time. That look-up costs a comparison; the others cost a look into a map.
// Channels are never removed. They are walked in the order in which they were added, so that the
// map's order is never seen.
package channel

import (
	"banyan/internal/prefetch"
	"banyan/internal/proto"
)

// Table holds a C for each channel. The zero Table is good for nothing: see New.
type Table[C any] struct {
	byKey  map[key]*C
	recent []recent[C] // by rank
	all    []*C        // in the order in which they were added
}

type key struct {
	context uint64
	peer    proto.Rank
}

// recent is the channel with one rank that was looked up last. The channel is nil before the first.
type recent[C any] struct {
	context uint64
	channel *C
}

// New makes an empty table of channels with the ranks 0…ranks-1.
func New[C any](ranks int) Table[C] {
	return Table[C]{byKey: make(map[key]*C), recent: make([]recent[C], ranks)}
}

// Find is the channel with a rank in a context, or nil if it hasn't been added.
func (t *Table[C]) Find(context uint64, peer proto.Rank) *C {
	if r := &t.recent[peer]; r.context == context {
		return r.channel // nil only if the rank has no channel at all
	}
	return t.look(context, peer)
}

func (t *Table[C]) look(context uint64, peer proto.Rank) *C {
	c := t.byKey[key{context, peer}]
	if c != nil {
		t.recent[peer] = recent[C]{context, c}
	}
	return c
}

// Add adds a channel, which must be new, and returns it.
func (t *Table[C]) Add(context uint64, peer proto.Rank, c *C) *C {
	t.byKey[key{context, peer}] = c
	t.recent[peer] = recent[C]{context, c}
	t.all = append(t.all, c)
	return c
}

// All are all channels, in the order in which they were added.
func (t *Table[C]) All() []*C { return t.all }

// First are the first channels, at most so many.
func (t *Table[C]) First(most int) []*C { return t.all[:min(len(t.all), most)] }

// Fetch asks for what the look-up of the first ranks' channels needs, and First (package prefetch).
func (t *Table[C]) Fetch(most int) {
	prefetch.Slice(t.recent[:min(len(t.recent), most)])
	prefetch.Slice(t.First(most))
}
