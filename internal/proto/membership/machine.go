package membership

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// Config says which process it is, and its times.
type Config struct {
	Self Member
	// Arity is how many children a member has in the tree, a power of two; 2
	// if 0.
	Arity int
	// Gather is how long a coordinator waits for more changes before it begins: deaths
	// seldom come alone.
	Gather proto.Time
	// Patience is how long a coordinator without a quorum waits for certain news
	// that the silent are dead, before it stops its side. It never does if 0.
	Patience proto.Time
	// Retry is how long a joiner waits for an answer.
	Retry proto.Time
	// Lease is how long a lease on a view lasts from when it was asked for, and Promise how long
	// those that grant it keep to it. Promise is longer by as much as clocks may differ. There are
	// no leases if they are 0.
	Lease, Promise proto.Time
	// Metadata is what a joiner says of itself from its first view on; "": nothing.
	Metadata string

	quorum func(*View, []Departure) bool // tests try others than View.Quorum
	bugs   bugs
}

// Validate says what is wrong with a Config.
func (c *Config) Validate() error {
	switch {
	case c.Arity < 0 || c.Arity&(c.Arity-1) != 0 || c.Arity == 1:
		return fmt.Errorf("arity %d: want a power of two, from 2", c.Arity)
	case c.Gather < 0:
		return fmt.Errorf("gathering for %d: want 0 or more", c.Gather)
	case c.Patience < 0:
		return fmt.Errorf("patience %d: want 0 or more", c.Patience)
	case c.Retry < 0:
		return fmt.Errorf("retry %d: want 0 or more", c.Retry)
	case c.Lease < 0 || c.Promise < c.Lease:
		return fmt.Errorf("a lease of %d, promised for %d: want 0 or more, promised for longer", c.Lease, c.Promise)
	}
	return nil
}

// Machine is the membership of one process.
type Machine struct {
	cfg  Config
	view *View // nil until a joiner is let in
	over bool  // excluded, released or halted

	gone    []Departure // members known to be gone and not excluded by view yet
	joins   []Member    // processes that have asked here to join
	leaves  []Member    // members that have asked here to leave
	leaving bool        // this process does

	// What follows concerns the view after this one. Once promised, no lower
	// ballot is listened to.
	promised  Ballot
	accepted  Ballot
	proposal  *View // accepted last, under accepted
	round     round
	leftRound Ballot // of a round that this process left without an answer, for promised,
	hasLeft   bool   // if it did
	lead      lead
	leases    leases
	own       Metadata    // what this process says of itself
	updates   []Metadata  // what others, and it, have asked here to say of themselves
	expected  []announced // that may ask, here or elsewhere, and are in no view yet

	asker   Member  // the coordinator that wants to know of certain deaths
	asked   bool    // there is one
	joiner  joiner  // of a process that joins
	skipped []int32 // reused
}

// round is this process's part in the tree for one ballot.
type round struct {
	ballot   Ballot
	kind     Kind // Collect or Propose; 0: none
	parent   Member
	root     bool
	awaiting []Member // children that haven't answered
	held     bool     // all have, but this process may not agree yet: see leases
	skip     []Departure
	best     Ballot
	view     *View       // accepted under best by a member below
	certain  []Departure // known below
}

// New makes the machine of a member of a first view, which every process makes for
// itself. It panics if self isn't a member or the Config isn't valid.
func New(cfg Config, first *View) *Machine {
	m := newMachine(cfg)
	if !first.Has(cfg.Self) {
		panic(fmt.Sprintf("membership: %v is no member of the first view", cfg.Self))
	}
	m.view, m.own = first, first.MetadataOf(cfg.Self)
	m.lead.reset(first, cfg.Self)
	return m
}

func newMachine(cfg Config) *Machine {
	if err := cfg.Validate(); err != nil {
		panic("membership: " + err.Error())
	}
	if cfg.Arity == 0 {
		cfg.Arity = 2
	}
	if cfg.quorum == nil {
		cfg.quorum = (*View).Quorum
	}
	return &Machine{cfg: cfg, lead: lead{until: proto.Never, beginAt: proto.Never}, joiner: joiner{retryAt: proto.Never}}
}

// View is the view in force, nil before a joiner has been let in.
func (m *Machine) View() *View { return m.view }

// Over says that this process has been excluded or released, or has halted.
func (m *Machine) Over() bool { return m.over }

// Coordinator is the most senior member that isn't known to be gone; false if
// there is no view yet.
func (m *Machine) Coordinator() (Member, bool) {
	if m.view != nil {
		for _, x := range m.view.Members {
			if departed(m.gone, x) < 0 {
				return x, true
			}
		}
	}
	return Member{}, false
}

// Gone says whether a member of the view in force is known to be gone: the next view won't have it.
func (m *Machine) Gone(x Member) bool { return departed(m.gone, x) >= 0 }

// Deadline is when Tick is to be called next, or proto.Never.
func (m *Machine) Deadline() proto.Time {
	if m.over {
		return proto.Never
	}
	held := proto.Never
	if m.round.held {
		held = m.heldUntil()
	}
	return min(m.lead.until, m.lead.beginAt, m.joiner.retryAt, held)
}

// Tick lets time pass.
func (m *Machine) Tick(now proto.Time, out *Actions) {
	if m.over {
		return
	}
	if now >= m.lead.until {
		m.halt(out)
		return
	}
	if now >= m.joiner.retryAt {
		m.askNext(now, out)
	}
	m.resume(now, out)
	if now >= m.lead.beginAt {
		m.lead.beginAt = proto.Never
		if m.changes() {
			m.begin(now, out)
		}
	}
}

// Departed takes the word of the detector, or of a witness, that a process is
// gone. Certain news replaces news of silence.
func (m *Machine) Departed(now proto.Time, x Member, why Why, out *Actions) {
	if m.over || x == m.cfg.Self || !m.note(Departure{x, why}) {
		return
	}
	if m.asked && m.asker != m.cfg.Self && why != Silent {
		m.send(m.asker, &Message{Kind: Certain, Gone: []Departure{{x, why}}}, out)
	}
	m.unbind(x, out)
	m.pledgeAnew(out)
	if m.leaving {
		m.askToLeave(out) // the coordinator may be another one now
	}
	if m.view != nil && !m.cfg.bugs.asksOnce {
		m.askToUpdate(out)
	}
	m.drive(now, out)
	m.resume(now, out)
}

// unbind tells a coordinator that this process has left its round for a higher ballot of a
// coordinator that is gone now. It would wait for an answer for ever. This happens only if
// one of the two took the other for gone and was wrong.
func (m *Machine) unbind(x Member, out *Actions) {
	if m.view == nil || !m.hasLeft || m.view.Members[m.promised.Position] != x {
		return
	}
	c := m.view.Members[m.leftRound.Position]
	if m.hasLeft = false; c != m.cfg.Self && departed(m.gone, c) < 0 {
		m.send(c, &Message{Kind: Reject, Number: m.view.Number + 1, Accepted: m.promised}, out)
	}
}

// note notes a departure, and says whether it is news.
func (m *Machine) note(d Departure) bool {
	if m.view != nil && m.view.Excludes(d.Member) {
		return false
	}
	if i := departed(m.gone, d.Member); i >= 0 {
		if m.gone[i].Why != Silent || d.Why == Silent {
			return false
		}
		m.gone[i].Why = d.Why
		return true
	}
	m.gone = append(m.gone, d)
	return true
}

// Receive handles a message.
func (m *Machine) Receive(now proto.Time, x *Message, out *Actions) {
	switch {
	case m.over:
		return
	case m.view != nil && m.view.Excludes(x.From):
		if x.Kind == Join {
			m.send(x.From, &Message{Kind: Refuse, Number: m.view.Number}, out)
		} else if x.Kind != Eviction {
			m.send(x.From, &Message{Kind: Eviction, Number: m.view.Number}, out)
		}
		return
	}
	switch x.Kind {
	case Collect, Propose:
		m.order(now, x, out)
	case Report, Ack:
		m.answer(now, x, out)
	case Commit, Current:
		m.commit(x, out)
	case Reject:
		m.rejected(now, x, out)
	case Ask:
		m.inquiry(x, out)
	case Certain:
		if m.hears(x.From) {
			m.learn(x.Gone)
		}
	case Halt:
		m.halted(x, out)
		return
	case Join:
		m.wakes(x.From)
		m.admit(x, out)
	case Redirect, Refuse:
		m.turnedAway(now, x, out)
	case Leave:
		if m.hears(x.From) && !slices.Contains(m.leaves, x.From) {
			m.leaves = append(m.leaves, x.From)
		}
	case Eviction:
		m.eviction(x, out)
	case Lease:
		m.grant(now, x, out)
	case Grant:
		m.granted(x)
	case Claim:
		m.claimed(x, out)
	case Pledge:
		m.pledged(x, out)
	case Update:
		if m.hears(x.From) {
			m.noteUpdate(x.Metadata)
		}
	}
	m.drive(now, out)
}

// hears says whether a process is a member; members listen to members.
func (m *Machine) hears(x Member) bool { return m.view != nil && m.view.Has(x) }

// learn takes certain departures that others know of.
func (m *Machine) learn(gone []Departure) {
	for _, d := range gone {
		if d.Member != m.cfg.Self && d.Why != Silent && m.view.Has(d.Member) {
			m.note(d)
		}
	}
}

// eviction takes an eviction notice: the sender has a view without this process.
func (m *Machine) eviction(x *Message, out *Actions) {
	if !m.hears(x.From) || x.Number <= m.view.Number {
		return // this process is in a later view
	}
	m.exclude(out)
}

func (m *Machine) exclude(out *Actions) {
	m.over = true
	kind := Excluded
	if m.leaving {
		kind = Released
	}
	*out = append(*out, Action{Kind: kind, View: m.view})
}

// send sends a message of this process.
func (m *Machine) send(to Member, x *Message, out *Actions) {
	x.From = m.cfg.Self
	*out = append(*out, Action{Kind: Send, To: to, Message: x})
}

// tree is that of a message, valid until the next call.
func (m *Machine) tree(view *View, skip []Departure) tree {
	m.skipped = m.skipped[:0]
	for _, d := range skip {
		if i := view.Position(d.Member); i >= 0 {
			m.skipped = append(m.skipped, int32(i))
		}
	}
	slices.Sort(m.skipped)
	m.skipped = slices.Compact(m.skipped)
	return tree{view, m.skipped, m.cfg.Arity}
}

// forward sends a message to the children of an index.
func (m *Machine) forward(t *tree, index int, x *Message, out *Actions) {
	first, end := t.children(index)
	if first < end && x.From != m.cfg.Self {
		passed := *x
		x = &passed
	}
	for i := first; i < end; i++ {
		m.send(t.member(i), x, out)
	}
}

// install puts a view in force.
func (m *Machine) install(v *View, stable bool, out *Actions) {
	m.view = v
	m.gone = slices.DeleteFunc(m.gone, func(d Departure) bool { return v.Excludes(d.Member) })
	m.joins = slices.DeleteFunc(m.joins, func(x Member) bool { return v.Has(x) || v.Excludes(x) })
	m.leaves = slices.DeleteFunc(m.leaves, v.Excludes)
	m.forgetUpdates()
	m.forgetSettled()
	m.promised, m.accepted, m.proposal, m.round = Ballot{}, Ballot{}, nil, round{awaiting: m.round.awaiting[:0]}
	m.leases = leases{request: m.leases.request, granted: m.leases.granted[:0], promises: m.leases.promises[:0]}
	m.asked, m.hasLeft = false, false
	m.joiner.retryAt = proto.Never
	m.lead.reset(v, m.cfg.Self)
	*out = append(*out, Action{Kind: Install, View: v, Stable: stable})
	if m.leaving {
		m.askToLeave(out)
	}
	if !m.cfg.bugs.asksOnce {
		m.askToUpdate(out)
	}
}

// Accepted is the view that this process has accepted as the next one, nil if there is none. It
// may come into force even if this process never hears of that.
func (m *Machine) Accepted() *View { return m.proposal }
