package steward

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// terms is a world of a few voters without time: any of them may begin a campaign at any moment,
// and any message may come late or never, which is all that deaths, pauses and cuts can do to
// terms and ledgers.
type terms struct {
	termsSetting
	agents  []*Agent
	witness *Witness
	disk    *disk // in place of a witness that hears messages
	links
	led     map[uint64]Host
	durable *Ledger // the last that was found durable, as version at
	at      Version
	begins  int // that may still happen
	changes int // of a ledger's content
	leaves  int // of hosts
	revokes int // of changes of the electorate
}

type termsSetting struct {
	hosts, voters        int
	withWitness          bool
	begin, change, leave int
	revoke               int
	files                bool // the witness is files
	lies                 int  // of the disk
	cut                  bool // agents don't hear each other
	mistake              diskMistake
	bug                  termsBug
}

// termsBug is a mistake in how terms and electorates are decided.
type termsBug string

const (
	withoutFormer   termsBug = "an electorate changes without the former voters"
	withoutPromises termsBug = "voters forget their promises"
	halfEnough      termsBug = "a half is enough, whichever it is"
	witnessCounts   termsBug = "a witness counts for what it doesn't keep"
	ownLedger       termsBug = "a candidate goes on with its own ledger"
	voteGivenBack   termsBug = "a vote is given back when its voter dies"
	revokedLate     termsBug = "a change of the electorate is taken back that has ended"
)

// step is an event: a message of a link, or something that an agent does.
type step struct {
	kind  stepKind
	agent Host
	link  int
	index int
}

type stepKind uint8

const (
	stDeliver stepKind = iota
	stBegin
	stChange
	stLeave
	stRevoke
	stDisk
)

func (s step) String() string {
	switch s.kind {
	case stDisk:
		return fmt.Sprintf("%s:%d", diskSteps[s.index], s.agent)
	case stDeliver:
		return fmt.Sprintf("deliver:%d.%d", s.link, s.index)
	}
	return fmt.Sprintf("%s:%d", [...]string{"", "begin", "change", "leave", "revoke"}[s.kind], s.agent)
}

func newTerms(s termsSetting) *terms {
	var entries []HostEntry
	for h := range Host(s.hosts) {
		entries = append(entries, HostEntry{Host: h})
	}
	parties, witness := s.hosts, NoHost
	if s.withWitness {
		parties, witness = s.hosts+1, Host(s.hosts)
	}
	first := NewLedger(entries, nil, witness, false, s.voters)
	t := &terms{termsSetting: s, links: newLinks(parties), led: map[uint64]Host{}, durable: first, at: Version{1, 0},
		begins: s.begin, changes: s.change, leaves: s.leave, revokes: s.revoke}
	for h := range Host(s.hosts) {
		cfg := Defaults(1000)
		cfg.Self, cfg.Voters = h, s.voters
		a := New(0, cfg, first)
		for range s.hosts { // there are no leases here: all count as heard
			a.voter.granted = append(a.voter.granted, grant{given: true})
		}
		t.agents = append(t.agents, a)
	}
	switch {
	case s.files:
		t.disk = newDisk(s.hosts, witness, first, s.lies, s.mistake)
	case s.withWitness:
		t.witness = NewWitness(0, witness, first)
	}
	var out []Action
	t.agents[0].out = &out
	t.agents[0].takeOver(0, 1, first)
	if err := t.carry(0, out); err != nil {
		panic(err)
	}
	return t
}

// Events implements explore.World.
func (t *terms) Events(dst []step) []step {
	for link, q := range t.queues {
		for i := range q {
			dst = append(dst, step{stDeliver, NoHost, link, i})
		}
	}
	for h, a := range t.agents {
		if t.disk != nil {
			for _, s := range t.disk.steps(Host(h)) {
				dst = append(dst, step{stDisk, Host(h), 0, int(s)})
			}
		}
		if t.begins > 0 && a.steward == nil && a.campaign == nil && a.voter.electorate.rank(Host(h), NoHost) >= 0 {
			dst = append(dst, step{kind: stBegin, agent: Host(h)})
		}
		if t.changes > 0 && a.Leads() {
			dst = append(dst, step{kind: stChange, agent: Host(h)})
		}
		if t.leaves > 0 && a.Leads() && a.steward.now().Hosts[1].State == Up {
			dst = append(dst, step{kind: stLeave, agent: Host(h)})
		}
		if t.revokes > 0 && t.former(a.steward) != nil {
			dst = append(dst, step{kind: stRevoke, agent: Host(h)})
		}
	}
	return dst
}

// former are the voters to which a steward may take the electorate back.
func (t *terms) former(s *writing) []Voter {
	switch {
	case s == nil || !s.begun || s.settled():
	case s.now().Electorate.Changing():
		return s.now().Electorate.Former
	case t.bug == revokedLate && s.latest > s.durable && s.version(s.durable).Electorate.Changing():
		return s.version(s.durable).Electorate.Former
	}
	return nil
}

// Apply implements explore.World.
func (t *terms) Apply(s step) error {
	var out []Action
	at := s.agent
	switch s.kind {
	case stDeliver:
		m := t.take(s.link, s.index)
		if at = Host(s.link % t.parties); t.witness != nil && at == t.witness.voter.self {
			t.witness.Receive(0, m, &out)
			if t.bug == withoutPromises {
				t.witness.voter.promised = 0
			}
			return t.carry(at, out)
		}
		if t.bug == ownLedger && m.Kind == Promise {
			x := *m
			x.At, x.Ledger = Version{}, nil
			m = &x
		}
		t.agents[at].Receive(0, m, &out)
	case stDisk:
		if diskStep(s.index) == dsExecute {
			t.disk.execute(at)
			return nil
		}
		for _, x := range t.disk.end(0, at, diskStep(s.index)) {
			t.agents[at].Receive(0, x.Message, &out)
		}
	case stBegin:
		t.begins--
		t.agents[at].out = &out
		t.agents[at].begin(0)
	case stRevoke:
		t.revokes--
		a := t.agents[at]
		a.out = &out
		s := a.steward
		if s.now().Electorate.Former == nil { // the mistake
			s.change(0).Electorate.Former = t.former(s)
		}
		s.revoke(0)
		a.flush(0)
	case stChange, stLeave:
		a := t.agents[at]
		a.out = &out
		l := a.steward.change(0)
		l.Places = append(l.Places, Place{Proc: proto.Proc(len(l.Places)), How: int32(100*a.steward.term) + int32(len(l.Places))})
		if s.kind == stLeave {
			l.Hosts[1].State = Left
			t.leaves--
		} else {
			t.changes--
		}
		a.flush(0)
	}
	t.spoil(at, &out)
	return t.carry(at, out)
}

// spoil adds the setting's mistake.
func (t *terms) spoil(at Host, out *[]Action) {
	a := t.agents[at]
	a.out = out
	switch t.bug {
	case withoutPromises:
		a.voter.promised = 0
	case withoutFormer:
		if s := a.steward; s != nil && s.latest > 0 {
			if l := s.version(s.latest); l.Electorate.Changing() {
				l.Electorate.Former = nil
				a.settle(0)
			}
		}
	case halfEnough:
		if c := a.campaign; c != nil && 2*len(c.from) >= len(c.best.electorate.Voters) {
			c.best.electorate.each(func(v Voter) { c.from = append(c.from, v.Host) })
			a.canvass(0)
		}
		if s := a.steward; s != nil && 2*len(s.wrote) >= len(s.version(s.latest).Electorate.Voters) {
			s.version(s.latest).Electorate.each(func(v Voter) { s.confirm(v.Host, s.latest) })
			a.settle(0)
		}
	case voteGivenBack:
		// Host 0 is dead, and has promised and written all that is asked.
		if c := a.campaign; c != nil {
			c.take(0, accepted{electorate: c.best.electorate})
			a.canvass(0)
		}
		if s := a.steward; s != nil {
			s.confirm(0, s.latest)
			a.settle(0)
		}
	case witnessCounts:
		// The witness's vote stands for that of the other host, which keeps the ledger.
		if s := a.steward; s != nil && s.begun {
			s.confirm(1-at, s.latest)
			a.settle(0)
		}
	}
}

func (t *terms) carry(from Host, out []Action) error {
	for _, x := range out {
		switch x.Kind {
		case Send:
			if t.disk != nil && x.To == t.disk.host {
				t.disk.ask(from, x.Message)
				continue
			}
			if t.cut && x.To != from {
				continue
			}
			t.put(from, x.To, x.Message)
		case Lead:
			term := t.agents[from].steward.term
			if h, is := t.led[term]; is && h != from {
				return fmt.Errorf("hosts %d and %d both act in term %d", h, from, term)
			}
			t.led[term] = from
		}
	}
	if t.witness != nil && from == t.witness.voter.self || !t.agents[from].Leads() {
		return nil
	}
	s := t.agents[from].steward
	early, late, at := t.durable, s.version(s.durable), Version{s.term, s.durable}
	if t.at.After(at) {
		early, late = late, early
	} else {
		t.at = at
	}
	if len(early.Places) > len(late.Places) || !slices.Equal(early.Places, late.Places[:len(early.Places)]) {
		return fmt.Errorf("ledger %v was durable and isn't in %v", early.ID, late.ID)
	}
	t.durable = late
	return nil
}

// End implements explore.World.
func (t *terms) End() error { return nil }

// Clone implements explore.World.
func (t *terms) Clone() *terms {
	c := *t
	c.links = t.links.clone()
	c.agents = nil
	for _, a := range t.agents {
		c.agents = append(c.agents, a.clone())
	}
	if t.witness != nil {
		c.witness = t.witness.clone()
	}
	if t.disk != nil {
		c.disk = t.disk.clone()
	}
	c.led = map[uint64]Host{}
	for term, h := range t.led {
		c.led[term] = h
	}
	return &c
}

// AppendKey implements explore.World.
func (t *terms) AppendKey(dst []byte) []byte {
	ledger := func(l *Ledger) {
		if l == nil {
			dst = append(dst, '-')
			return
		}
		dst = fmt.Append(dst, l.ID, l.Electorate, len(l.Places))
		for _, p := range l.Places {
			dst = fmt.Append(dst, p.How, ".")
		}
	}
	vote := func(v *voter) {
		dst = fmt.Append(dst, "\nv", v.promised, v.to, v.at, v.steward, v.id, v.electorate.Since)
		ledger(v.ledger)
	}
	for _, a := range t.agents {
		vote(&a.voter)
		dst = fmt.Append(dst, a.term, a.refused, a.known.at)
		if c := a.campaign; c != nil {
			slices.Sort(c.from)
			dst = fmt.Append(dst, "c", c.term, c.from, c.asked, c.best.at, c.best.id)
			for _, l := range c.known {
				dst = fmt.Append(dst, l.ID)
			}
		}
		if s := a.steward; s != nil {
			dst = fmt.Append(dst, "s", s.term, s.latest, s.durable, s.begun, s.electedIn, s.revoked, len(s.waiting))
			slices.SortFunc(s.wrote, func(a, b confirmation) int { return int(a.from - b.from) })
			dst = fmt.Append(dst, s.wrote)
			for _, l := range s.versions {
				ledger(l)
			}
		}
	}
	if t.witness != nil {
		vote(&t.witness.voter)
	}
	if t.disk != nil {
		dst = t.disk.appendKey(dst)
	}
	for i, q := range t.queues {
		for _, m := range q {
			dst = fmt.Append(dst, "\nm", i, m.Kind, m.Term, m.At, m.ID)
			ledger(m.Ledger)
		}
	}
	dst = fmt.Append(dst, t.begins, t.changes, t.leaves, t.revokes)
	dst = fmt.Append(dst, t.at)
	ledger(t.durable)
	return dst
}

// TestTerms tries all orders of events among two to four voters.
func TestTerms(t *testing.T) {
	for _, tc := range []struct {
		termsSetting
		long bool
	}{
		{termsSetting{hosts: 2, voters: 2, begin: 2, change: 1}, false},
		{termsSetting{hosts: 2, voters: 2, begin: 1, change: 1, withWitness: true}, false},
		{termsSetting{hosts: 3, voters: 3, begin: 1, change: 1}, false},
		{termsSetting{hosts: 3, voters: 2, begin: 1, leave: 1}, false},
		{termsSetting{hosts: 2, voters: 2, begin: 1, leave: 1, revoke: 1, withWitness: true}, false},
		{termsSetting{hosts: 2, voters: 2, begin: 1, change: 1, leave: 1, revoke: 1, withWitness: true}, true},
		{termsSetting{hosts: 3, voters: 2, begin: 1, change: 1, leave: 1, revoke: 2}, true},
		{termsSetting{hosts: 4, voters: 3, begin: 1, leave: 1, revoke: 1}, true},
		{termsSetting{hosts: 2, voters: 2, begin: 3, change: 2}, true},
		{termsSetting{hosts: 2, voters: 2, begin: 2, change: 2, withWitness: true}, true},
		{termsSetting{hosts: 2, voters: 2, begin: 1, change: 1, leave: 1, withWitness: true}, true},
		{termsSetting{hosts: 3, voters: 3, begin: 2, change: 1}, true},
		{termsSetting{hosts: 3, voters: 2, begin: 1, change: 1, leave: 1}, true},
		{termsSetting{hosts: 4, voters: 4, begin: 1, change: 1}, true},
	} {
		t.Run(fmt.Sprintf("%+v", tc.termsSetting), func(t *testing.T) {
			if tc.long && !explore.Long() {
				t.Skip("long")
			}
			stats, err := explore.All(newTerms(tc.termsSetting), 20_000_000)
			t.Logf("%d states, %d ends, depth %d, %v", stats.States, stats.Ends, stats.Depth, err)
			if err != nil && !errors.Is(err, explore.ErrLimit) {
				t.Fatal(err)
			}
		})
	}
}

// TestTermsCanaries checks that the exploration finds each mistake.
func TestTermsCanaries(t *testing.T) {
	for _, s := range []termsSetting{
		{hosts: 4, voters: 3, begin: 1, leave: 1, bug: withoutFormer},
		{hosts: 3, voters: 3, begin: 2, change: 1, bug: withoutPromises},
		{hosts: 2, voters: 2, begin: 1, change: 2, bug: halfEnough},
		{hosts: 2, voters: 2, begin: 1, change: 1, withWitness: true, bug: witnessCounts},
		{hosts: 3, voters: 3, begin: 1, change: 1, bug: voteGivenBack},
		{hosts: 3, voters: 3, begin: 1, change: 1, bug: ownLedger},
	} {
		t.Run(string(s.bug), func(t *testing.T) {
			var err error
			var v *explore.Violation
			seed := uint64(1)
			for ; seed <= 5000 && !errors.As(err, &v); seed++ {
				err = explore.Random(newTerms(s), seed, 1000)
			}
			if v == nil { // chance misses it
				_, err = explore.All(newTerms(s), 200_000)
				errors.As(err, &v)
			}
			if v == nil {
				t.Fatalf("not caught: %v", err)
			}
			t.Log(err)
		})
	}
}

// A change of the electorate that has ended can't be taken back: those that decide alone by then
// may have gone on. Chance is long in finding that.
func TestRevokedLate(t *testing.T) {
	for _, bug := range []termsBug{"", revokedLate} {
		w := newTerms(termsSetting{hosts: 4, voters: 3, begin: 1, change: 1, leave: 1, revoke: 1, bug: bug})
		var err error
		do := func(s step) {
			if err == nil {
				err = w.Apply(s)
			}
		}
		deliver := func(from, to int) {
			link := from*w.parties + to
			for range len(w.queues[link]) {
				do(step{stDeliver, NoHost, link, 0})
			}
		}
		for h := 1; h < 4; h++ {
			deliver(0, h)
			deliver(h, 0)
		}
		do(step{kind: stLeave}) // hosts 0, 2 and 3 are to vote in place of 0, 1 and 2
		deliver(0, 2)
		deliver(2, 0)
		deliver(0, 2) // they do
		deliver(0, 3)
		do(step{kind: stBegin, agent: 2})
		for range 2 {
			deliver(2, 3)
			deliver(3, 2)
		}
		if !w.agents[2].Leads() {
			t.Fatal("host 2 doesn't lead")
		}
		if w.former(w.agents[0].steward) != nil {
			do(step{kind: stRevoke})
		}
		do(step{kind: stChange})
		deliver(0, 1)
		deliver(1, 0)
		if (err != nil) != (bug != "") {
			t.Errorf("%q: %v", bug, err)
		}
	}
}
