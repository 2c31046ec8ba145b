package detector

import (
	"banyan/internal/proto"
	"banyan/internal/splitmix"
)

// compare looks at the emitter's digest. If it differs from the own one, news may
// be on its way. If neither has changed by the next heartbeat, one of the two has missed some,
// and they tell each other all.
func (m *Machine) compare(from proto.Proc, theirs Digest, out *Actions) {
	mine := m.digest()
	if theirs == mine {
		m.doubt = 0
		return
	}
	doubt := splitmix.Mix(theirs.Hash+uint64(theirs.Count)) + splitmix.Mix(mine.Hash) | 1
	if m.doubt != doubt {
		m.doubt = doubt
		return
	}
	m.doubt = 0
	m.sendAll(from, true, out)
}

func (m *Machine) sendAll(to proto.Proc, ask bool, out *Actions) {
	m.shared = true
	*out = append(*out, Action{Kind: SendReconcile, To: to, Ask: ask, Bulletin: Bulletin{
		View: m.cfg.View.Number, Incarnation: m.cfg.Incarnation, Source: m.cfg.Self, Gone: m.gone,
	}})
}

// Reconcile takes all that a process knows, after digests have differed. If it asks,
// and something is missing, it gets the same in return.
func (m *Machine) Reconcile(now proto.Time, from proto.Proc, b Bulletin, ask bool, out *Actions) {
	m.wake(now)
	if !m.admits(now, from, b.View, b.Incarnation, out) || m.isFenced(from, b.Gone, out) {
		return
	}
	m.take(now, from, b.Gone, out)
	theirs := Digest{Count: uint32(len(b.Gone))}
	for _, e := range b.Gone {
		theirs.Hash += e.hash()
	}
	if ask && theirs != m.digest() {
		m.sendAll(from, false, out)
	}
}

// take learns a list, of any view, that came by no broadcast. Others may not have heard of what is
// new in it, so that is held.
func (m *Machine) take(now proto.Time, from proto.Proc, list []Entry, out *Actions) {
	learned := false
	for _, e := range list {
		if e.Proc != m.cfg.Self && m.learn(e, Report{Cause: CauseTold, By: from}, out) {
			learned = true
			if !e.Left {
				m.hold(now, e.Proc)
			}
		}
	}
	if learned {
		m.settle(now, out)
	}
}
