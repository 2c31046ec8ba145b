package swim

import (
	"slices"

	"banyan/internal/proto"
)

// hear takes an item of news.
func (m *Machine) hear(now proto.Time, r Rumour, out *Actions) {
	if r.Proc < 0 || int(r.Proc) >= m.cfg.N {
		return
	}
	held := &m.members[r.Proc]
	if r.Proc == m.cfg.Self {
		if r.State != Alive && r.Incarnation >= held.incarnation {
			held.incarnation = r.Incarnation + 1 // refute
			m.tell(m.cfg.Self)
		}
		return
	}
	if r.Incarnation > held.incarnation || r.Incarnation == held.incarnation && r.State > held.state {
		m.change(now, r, out)
	}
}

// silent is the end of a probe that no acknowledgement ended.
func (m *Machine) silent(now proto.Time, p proto.Proc, out *Actions) {
	held := m.members[p]
	if held.state != Alive {
		return // the time-out is running, or over
	}
	state := Suspect
	if m.cfg.Suspicion == 0 {
		state = Dead
	}
	m.change(now, Rumour{p, held.incarnation, state}, out)
}

// expire declares suspects dead whose time is over.
func (m *Machine) expire(now proto.Time, out *Actions) {
	for i := 0; i < len(m.suspects); {
		if s := m.suspects[i]; now >= s.deadAt {
			m.change(now, Rumour{s.proc, m.members[s.proc].incarnation, Dead}, out) // takes s out
		} else {
			i++
		}
	}
}

// change makes an opinion a greater one.
func (m *Machine) change(now proto.Time, r Rumour, out *Actions) {
	held := &m.members[r.Proc]
	if held.state == Suspect {
		m.suspects = slices.DeleteFunc(m.suspects, func(s suspect) bool { return s.proc == r.Proc })
	}
	if held.state == Dead {
		m.others++
	}
	switch r.State {
	case Suspect:
		m.suspects = append(m.suspects, suspect{r.Proc, now + m.cfg.Suspicion})
	case Dead:
		m.others--
	}
	if held.state != r.State {
		*out = append(*out, Action{Kind: Report, Changed: r})
	}
	*held = opinion{r.Incarnation, r.State}
	m.tell(r.Proc)
}

// tell puts a member among the news, as news not yet told.
func (m *Machine) tell(p proto.Proc) {
	m.news = slices.DeleteFunc(m.news, func(n item) bool { return n.proc == p })
	m.news = slices.Insert(m.news, 0, item{proc: p})
}

// send sends a message with as much news as it holds. To those thought suspect
// or dead that is the first they are told.
func (m *Machine) send(to proto.Proc, msg Message, out *Actions) {
	if m.members[to].state != Alive {
		m.add(&msg, to)
	}
	told := 0
	for told < len(m.news) && msg.Count < MaxRumours {
		n := &m.news[told]
		if n.proc != to || m.members[to].state == Alive { // not twice
			m.add(&msg, n.proc)
		}
		n.told++
		told++
	}
	m.sort(told)
	*out = append(*out, Action{Kind: SendMessage, To: to, Message: msg})
}

func (m *Machine) add(msg *Message, p proto.Proc) {
	held := m.members[p]
	msg.Rumours[msg.Count] = Rumour{p, held.incarnation, held.state}
	msg.Count++
}

// sort restores the order of the news, of which the first few have been told
// once more, and drops what has been told often enough.
func (m *Machine) sort(told int) {
	if told == 0 {
		return
	}
	m.news = slices.DeleteFunc(m.news, func(n item) bool { return n.told >= m.cfg.Transmit })
	slices.SortStableFunc(m.news, func(a, b item) int { return a.told - b.told })
}
