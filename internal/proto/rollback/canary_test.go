package rollback

import (
	"errors"
	"slices"
	"testing"

	"banyan/internal/testing/explore"
)

// bug names a mistake that was made or could be made; "" is none. Its hooks stand between the world
// and the machine.
type bug string

const (
	// A snapshot is committed before all copies are stored: half a snapshot is resumed.
	committedEarly bug = "committed early"
	// A store has room for one version: the only copy is overwritten before the commit.
	overwrites bug = "overwrites"
	// Messages of an abandoned epoch are received.
	oldAccepted bug = "old accepted"
	// Reports of an abandoned epoch count.
	oldReports bug = "old reports"
	// A rank captures its state before all that is under way has come.
	unflushed bug = "unflushed"
	// What has come in a restarted program before its first safe point isn't dropped.
	undropped bug = "undropped"
	// Ranks go on before all have captured their states.
	resumedEarly bug = "resumed early"
	// Each rank stands at its own next safe point.
	unaimed bug = "unaimed"
	// The stores aren't told that a snapshot was abandoned; its number is given again.
	numberAgain bug = "number again"
	// Copies that were lost aren't made again after a rollback.
	unmended bug = "unmended"
)

// before runs before the coordinator is told anything.
func (b bug) before(w *world) {
	c := w.coordinator
	switch {
	case b == committedEarly && c.taking != Beginning && c.phase == runs:
		for i := range c.ranks {
			if m := &c.ranks[i]; m.buddy != NoHost && !slices.Contains(m.fresh, m.buddy) {
				m.fresh = append(slices.Clone(m.fresh), m.buddy)
			}
		}
	case b == oldReports:
		for i := range w.said {
			w.said = slices.Clone(w.said)
			w.said[i].report.Epoch = c.epoch
		}
	case b == numberAgain && c.taking == Beginning:
		c.last = c.committed
	}
}

// actions are the actions that are carried out.
func (b bug) actions(w *world, out []Action) []Action {
	switch b {
	case unaimed:
		for i, a := range out {
			if a.Kind == Tell && a.Order.Kind == Aim {
				out[i].Order.At = w.coordinator.ranks[a.Rank].at
			}
		}
	case numberAgain:
		return slices.DeleteFunc(out, func(a Action) bool { return a.Kind == Discard })
	case unmended:
		return slices.DeleteFunc(out, func(a Action) bool {
			return a.Kind == Copy && a.Snapshot == w.coordinator.committed && a.To != w.procs[a.Rank].home
		})
	}
	return out
}

// TestCanaries makes mistakes, each of which the exploration must find.
func TestCanaries(t *testing.T) {
	for _, tc := range []struct {
		options
		want error // nil: any
	}{
		{options{ranks: 2, hosts: 2, steps: 2, snapshots: 1, hostDeaths: 1, bug: committedEarly}, nil},
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 2, deaths: 1, bug: overwrites}, errHalf},
		{options{ranks: 2, hosts: 1, steps: 2, deaths: 1, bug: oldAccepted}, errOld},
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 1, deaths: 2, bug: oldReports}, nil},
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 1, bug: unflushed}, errTwoCut},
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 1, deaths: 1, bug: undropped}, errTwice},
		{options{ranks: 2, hosts: 1, steps: 3, snapshots: 1, queued: true, bug: resumedEarly}, errTwoCut},
		{options{ranks: 2, hosts: 1, steps: 3, snapshots: 1, bug: unaimed}, nil},
		{options{ranks: 2, hosts: 2, steps: 2, snapshots: 2, limits: 1, bug: numberAgain}, nil},
		{options{ranks: 2, hosts: 3, steps: 2, snapshots: 1, hostDeaths: 1, bug: unmended}, nil},
	} {
		t.Run(string(tc.bug), func(t *testing.T) {
			stats, err := explore.All(newWorld(tc.options), 1e6)
			var v *explore.Violation
			if !errors.As(err, &v) || tc.want != nil && !errors.Is(err, tc.want) {
				t.Fatalf("%d states: %v", stats.States, err)
			}
			t.Logf("%d states: %v", stats.States, v.Err)
		})
	}
}
