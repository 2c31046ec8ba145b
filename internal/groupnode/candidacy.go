package groupnode

import (
	"banyan/internal/proto"
	"banyan/internal/proto/founding"
	"banyan/internal/proto/membership"
)

// candidacy is this process's part in founding its group, as long as it is no member.
type candidacy struct {
	machine  *founding.Machine // nil: this process only joins
	heard    map[founding.ID]candidate
	existsAt proto.Time // when a live member was last heard of
	asked    bool       // all seeds have answered, or failed to
	decided  bool       // this process founds
}

// candidate is another process that looks for the group.
type candidate struct {
	address string
	at      proto.Time // when it was last heard of
}

// foundsAlone says whether this process founds a group at once.
func (m *Member) foundsAlone() bool {
	return len(m.cfg.Seeds) == 0 && m.memory.record.View == nil && !m.cfg.Recover
}

// newCandidacy makes a candidate of a process that has a directory, or is one of those that found
// a group. A promise of one that remembers nothing may be needed, too: a view may have had it in
// that never came into force.
func (m *Member) newCandidacy() {
	memory, needed := m.memory.candidate()
	if m.foundsAlone() || m.memory.dir == nil && m.cfg.Expect == 0 || m.cfg.Recover {
		return
	}
	start := founding.Start{Node: m.node(), Count: max(m.memory.record.Starts, 1)}
	m.candidacy.heard = map[founding.ID]candidate{}
	m.candidacy.machine = founding.New(founding.Config{
		Name: m.card.Name, Start: start, Memory: memory, Needed: needed, Expect: uint32(m.cfg.Expect),
	})
}

// node is this process's identity as a candidate. Without a directory it is a new one each time.
func (m *Member) node() founding.ID {
	if m.memory.dir == nil {
		return founding.ID(m.card.Nonce)
	}
	return founding.ID(m.memory.record.Node)
}

// state is what this candidate says of itself; nil if it is none.
func (m *Member) state() *founding.Candidate {
	if m.candidacy.machine == nil || m.machine != nil {
		return nil
	}
	s := m.candidacy.machine.Self()
	return &s
}

// heardCandidate takes what another candidate says of itself.
func (m *Member) heardCandidate(c *founding.Candidate, address string) {
	if c == nil || m.candidacy.machine == nil || m.machine != nil {
		return
	}
	m.candidacy.heard[c.Start.Node] = candidate{address, m.now}
	m.candidacy.machine.Heard(*c)
	m.foundIfDecided()
}

// heardMember takes the news that a process is a member of the group.
func (m *Member) heardMember(node founding.ID) {
	if m.candidacy.machine == nil || m.machine != nil {
		return
	}
	delete(m.candidacy.heard, node)
	m.candidacy.existsAt = m.now
	m.candidacy.machine.Exists(true)
	m.candidacy.machine.Gone(node)
}

// forgetSilent forgets candidates and members that haven't been heard of for long.
func (m *Member) forgetSilent() {
	c := &m.candidacy
	if c.machine == nil || m.machine != nil {
		return
	}
	limit := proto.Time(2 * m.cfg.Timeout)
	for node, x := range c.heard {
		if m.now-x.at > limit {
			delete(c.heard, node)
			c.machine.Gone(node)
		}
	}
	if m.now-c.existsAt > limit {
		c.machine.Exists(false)
	}
	m.foundIfDecided()
}

// mustWait says whether this process has promised not to become a member but of another's
// founding.
func (m *Member) mustWait() bool {
	if m.candidacy.machine == nil {
		return false
	}
	_, promised := m.candidacy.machine.Promised()
	return promised
}

// freeBy ends the promise to a candidate that is a member of a view.
func (m *Member) freeBy(v *membership.View) {
	if m.candidacy.machine == nil {
		return
	}
	to, _ := m.candidacy.machine.Promised()
	for _, x := range v.Members {
		if c := m.cards[x]; founding.ID(c.Node) == to.Node || founding.ID(c.Nonce) == to.Node {
			m.heardMember(to.Node)
		}
	}
}

// foundIfDecided founds the group if all that is needed is there. What numbers the foundings may
// take its time.
func (m *Member) foundIfDecided() {
	c := &m.candidacy
	if c.decided || m.machine != nil || m.ended != nil || !c.machine.Found() || !c.asked && m.memory.record.View == nil {
		return
	}
	c.decided = true
	floor := m.memory.token()
	for _, x := range c.machine.Known() {
		floor = max(floor, x.Memory.Token)
	}
	m.log.Info("this process founds the group", "candidates", len(c.machine.Known())+1, "after token", floor)
	m.foundAfter(floor)
}

// foundAfter founds the group with tokens above a floor, in the background.
func (m *Member) foundAfter(floor uint64) {
	m.background.Go(func() {
		f, err := m.cfg.newFounding(m.ctx, floor)
		m.post(func() {
			switch {
			case m.machine != nil || m.ended != nil:
			case err != nil:
				m.finish(err)
			default:
				m.found(f)
			}
		})
	})
}

// peers are the addresses of other candidates, for one that doesn't know them.
func (m *Member) peers() (list []string) {
	for _, x := range m.candidacy.heard {
		if x.address != "" && len(list) < maxPeers {
			list = append(list, x.address)
		}
	}
	return list
}
