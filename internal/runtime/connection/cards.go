package connection

import (
	"bytes"
	"encoding/json"
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport/mesh"
)

// card is a process of a connection, or why it can't be one.
type card struct {
	Member
	Card string `json:"card"`
	Why  string `json:"why,omitempty"`
}

// side is what a leader tells the other one of its group.
type side struct {
	Cards   cards    `json:"cards"`
	Failure *Failure `json:"failure,omitempty"`
}

// cards are those of a group.
type cards []card

// UnmarshalJSON takes as many cards as a connection may have: empty ones take a fortieth of their
// memory to send.
func (c *cards) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	switch first, err := d.Token(); {
	case err != nil:
		return err
	case first == nil:
		*c = nil
		return nil
	case first != json.Delim('['):
		return fmt.Errorf("the cards of a side of a connection begin with %v", first)
	}
	for *c = nil; d.More(); {
		if len(*c) == maxProcs {
			return fmt.Errorf("a side of a connection has more than %d cards", maxProcs)
		}
		var x card
		if err := d.Decode(&x); err != nil {
			return err
		}
		*c = append(*c, x)
	}
	return nil
}

// check refuses a side that isn't n processes.
func (s *side) check(n int) error {
	if s.Failure != nil {
		return s.Failure
	}
	if len(s.Cards) != n {
		return fmt.Errorf("a side of a connection of %d processes has %d cards", n, len(s.Cards))
	}
	for i := range s.Cards {
		if _, err := mesh.ParseCard(s.Cards[i].Card); err != nil {
			return err
		}
		if m := s.Cards[i].Member; m.Rank < 0 || m.Rank >= maxProcs || m.Job == "" || len(m.Job) > maxJob {
			return fmt.Errorf("a process of a connection is rank %d of the job %.80q", m.Rank, m.Job)
		}
	}
	return nil
}

// distinct refuses a group that has a process twice, or one of the job own, which has so many
// ranks, that this hasn't.
func (s *side) distinct(own string, ranks int) error {
	seen := make(map[Member]bool, len(s.Cards))
	for i := range s.Cards {
		m := s.Cards[i].Member
		if m.Job == own && int(m.Rank) >= ranks {
			return fmt.Errorf("the other side of a connection has rank %d of this job, which has %d ranks", m.Rank, ranks)
		}
		if seen[m] {
			return fmt.Errorf("rank %d of a job is twice in the other side of a connection", m.Rank)
		}
		seen[m] = true
	}
	return nil
}

// maxJob bounds the name of a job in bytes: a checksum in hexadecimal digits.
const maxJob = 64

// exchangeCards has this process listen, and gives the cards of all processes.
func (m *making) exchangeCards() ([]card, error) {
	own := m.listen()
	b, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	all, err := m.group.Collect(b)
	var said side
	if m.group.Leads() {
		said = m.gathered(all, err)
	} else if err != nil {
		return nil, err
	}
	if err := spread(m.group, &said); err != nil {
		return nil, err
	}
	if err := said.check(m.terms.Size); err != nil {
		return nil, err
	}
	return said.Cards, nil
}

// listen opens this process's transport.
func (m *making) listen() card {
	own := card{Member: m.Self}
	address, err := m.Address(m.terms.Host != "")
	if err != nil {
		own.Why = err.Error()
		return own
	}
	tr, err := mesh.Listen(mesh.Config{
		Self: m.self, N: m.terms.Size, Secret: m.terms.Secret, Logger: m.Logger, Host: address, Media: m.terms.Media, Sealing: m.terms.Sealing,
		Resolve: m.table.resolve, Settle: m.Settle(m.terms.Timeout), Reach: m.Reach(m.terms.Timeout),
	})
	if err != nil {
		own.Why = err.Error()
		return own
	}
	m.mesh, own.Card = tr, tr.Card().String()
	return own
}

// gathered has the leader exchange the cards of its group. It says even if something is wrong, so
// that nobody waits.
func (m *making) gathered(all [][]byte, wrong error) side {
	var own, theirs side
	for i := 0; i < len(all) && wrong == nil; i++ {
		var x card
		if wrong = json.Unmarshal(all[i], &x); wrong == nil && x.Why != "" {
			wrong = &Failure{Kind: NoSystem, Text: fmt.Sprintf("rank %d of a group can't connect: %s", i, x.Why)}
		}
		own.Cards = append(own.Cards, x)
	}
	if wrong != nil {
		own = side{Failure: failure(wrong)}
	}
	err := m.line.Exchange(&side{own.Cards, own.Failure.elsewhere()}, &theirs, exchangeLimit)
	if own.Failure != nil {
		return own
	}
	theirs.Failure = theirs.Failure.elsewhere()
	if err != nil {
		return side{Failure: away(err)}
	}
	if err := theirs.check(m.terms.Size - m.group.Size()); err != nil {
		return side{Failure: failure(err)}
	}
	if err := theirs.distinct(m.Self.Job, m.Ranks); err != nil {
		return side{Failure: failure(err)}
	}
	if m.accepts {
		return side{Cards: append(own.Cards, theirs.Cards...)}
	}
	return side{Cards: append(theirs.Cards, own.Cards...)}
}

// spread gives all what the leader says.
func spread[T any](g Group, value *T) error {
	var b []byte
	if g.Leads() {
		var err error
		if b, err = json.Marshal(value); err != nil {
			return err
		}
	}
	b, err := g.Spread(b)
	if err != nil || g.Leads() {
		return err
	}
	return json.Unmarshal(b, value)
}

// table has the cards of all processes, once they are known. A transport asks for them when it
// connects; another process may be the first to.
type table struct {
	known, failed chan struct{}
	cards         []mesh.Card
}

func newTable() *table { return &table{known: make(chan struct{}), failed: make(chan struct{})} }

func (t *table) set(cards []mesh.Card) {
	t.cards = cards
	close(t.known)
}

func (t *table) resolve(p proto.Proc) (mesh.Card, error) {
	select {
	case <-t.known:
		return t.cards[p], nil
	case <-t.failed:
		return mesh.Card{}, mesh.ErrNoCard
	}
}
