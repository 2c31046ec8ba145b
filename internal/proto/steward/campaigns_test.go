package steward

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// A candidate that promises a later term to another one gives its own up, though a promise for it
// is still under way. With both terms there would be two stewards.
func TestCandidatePromises(t *testing.T) {
	first := NewLedger([]HostEntry{{Host: 0}, {Host: 1}, {Host: 2}}, nil, NoHost, false, MaxVoters)
	for _, late := range []bool{false, true} { // the promise comes after the other candidate's question
		cfg := Defaults(proto.Time(sec))
		cfg.Self = 1
		a := New(0, cfg, first)
		var out []Action
		a.out = &out
		a.begin(0)
		promise := &Message{Kind: Promise, From: 2, Term: 2, At: first.ID, Steward: 0, ID: first.ID, Electorate: &first.Electorate, Ledger: first}
		prepare := &Message{Kind: Prepare, From: 2, Term: 3}
		if late {
			a.Receive(0, prepare, &out)
			a.Receive(0, promise, &out)
		} else {
			a.Receive(0, promise, &out)
			a.Receive(0, prepare, &out)
		}
		a.Receive(0, &Message{Kind: Wrote, From: 2, At: Version{2, 0}}, &out)
		if a.steward != nil || a.campaign != nil {
			t.Errorf("late: %v; it goes on with term 2, and has promised term %d", late, a.voter.promised)
		}
	}
}

// A steward's own voter may refuse what it writes: then its term is over. Its write doesn't count
// as confirmed.
func TestOwnVoterRefuses(t *testing.T) {
	first := NewLedger([]HostEntry{{Host: 0}, {Host: 1}, {Host: 2}}, nil, NoHost, false, MaxVoters)
	cfg := Defaults(proto.Time(sec))
	cfg.Self = 1
	a := New(0, cfg, first)
	a.voter.promised, a.voter.to = 3, 2
	var out []Action
	a.out = &out
	a.takeOver(0, 2, first)
	if a.steward != nil {
		t.Errorf("it goes on with term 2, confirmed by %v", a.steward.wrote)
	}
}

// TestTermsRandom tries random orders of events, with more campaigns than TestTerms can try all
// orders of.
func TestTermsRandom(t *testing.T) {
	for _, s := range []termsSetting{
		{hosts: 3, voters: 3, begin: 3, change: 2},
		{hosts: 5, voters: 5, begin: 3, change: 2},
		{hosts: 2, voters: 2, begin: 3, change: 2, leave: 1, revoke: 1, withWitness: true},
	} {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			runs := uint64(3000)
			if explore.Long() {
				runs = 1_000_000
			}
			var v *explore.Violation
			for seed := range runs {
				if err := explore.Random(newTerms(s), seed, 1000); errors.As(err, &v) {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}
