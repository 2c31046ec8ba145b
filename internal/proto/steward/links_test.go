package steward

import "slices"

// links are the messages under way between a few parties. Those of one link keep their order; any
// may be lost.
type links struct {
	parties int
	queues  [][]*Message
}

func newLinks(parties int) links { return links{parties, make([][]*Message, parties*parties)} }

func (l *links) put(from, to Host, m *Message) {
	i := int(from)*l.parties + int(to)
	l.queues[i] = append(slices.Clip(l.queues[i]), m)
}

// take takes a message out. Those before it are lost.
func (l *links) take(link, i int) *Message {
	m := l.queues[link][i]
	l.queues[link] = l.queues[link][i+1:]
	return m
}

func (l *links) clone() links { return links{l.parties, slices.Clone(l.queues)} }
