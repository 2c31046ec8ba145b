package agreement

import (
	"slices"

	"banyan/internal/varint"
)

// clone is a copy that shares nothing with the machine but sets, which never change.
func (m *Machine) clone() *Machine {
	c := *m
	c.position, c.near = m.position.clone(), m.near.clone()
	c.window = make([]*instance, len(m.window))
	for j, i := range m.window {
		c.window[j] = i.clone()
	}
	c.spent, c.free = nil, nil
	c.early = slices.Clone(m.early)
	return &c
}

func (p *position) clone() position {
	c := *p
	c.children, c.index = slices.Clone(p.children), slices.Clone(p.index)
	return c
}

func (i *instance) clone() *instance {
	c := *i
	c.own.Payload, c.value.Payload = slices.Clone(i.own.Payload), slices.Clone(i.value.Payload)
	c.offer.value.Payload = slices.Clone(i.offer.value.Payload)
	c.reports = slices.Clone(i.reports)
	for j := range c.reports {
		c.reports[j].value.Payload = slices.Clone(c.reports[j].value.Payload)
	}
	return &c
}

// appendKey describes the machine's state. The tree follows from the dead and the absent.
func (m *Machine) appendKey(b []byte) []byte {
	b = appendSet(appendSet(appendSet(appendSet(appendSet(appendSet(b, m.dead), m.through), m.absent), m.closers), m.asked), m.askers)
	b = varint.Append(b, m.entered, m.decided, m.stable, m.next, m.offered, uint64(m.saidTo+1), bit(m.isClosed)|bit(m.forgotten)<<1|bit(m.keeps)<<2|bit(m.left)<<3, max(m.wanted, m.entered), uint64(len(m.window)))
	for _, i := range m.window {
		b = varint.Append(b, bit(i.entered)|bit(i.decided)<<1)
		if i.entered {
			b = appendValue(b, &i.own)
		}
		if i.decided {
			b = appendValue(varint.Append(b, uint64(i.under)), &i.value)
		}
		for j := range len(i.reports) + 1 {
			r := &i.offer
			if j > 0 {
				r = &i.reports[j-1]
			}
			b = append(b, byte(bit(r.here)))
			if r.here {
				b = appendValue(varint.Append(b, uint64(r.kind), uint64(r.accepted), r.decided), &r.value)
			}
		}
	}
	b = varint.Append(b, uint64(len(m.early)))
	for _, s := range m.early {
		b = append(b, byte(s.from))
		b = s.message.Append(b)
	}
	return b
}

func appendValue(b []byte, v *Value) []byte {
	b = varint.Append(b, v.Flags)
	b = appendSet(appendSet(appendSet(appendSet(b, v.Missing), v.Failed), v.Acknowledged), v.Left)
	return varint.AppendBytes(b, v.Payload)
}

func appendSet(b []byte, s Set) []byte {
	b = append(b, byte(len(s)))
	return varint.Append(b, s...)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
