package rollback

import (
	"errors"
	"slices"
	"testing"

	"banyan/internal/proto"
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
	// What came from a replica that was ahead, and has died, is part of a snapshot.
	future bug = "future"
	// A replica of a rank stands at its own next safe point, its siblings where all others do.
	ownPoint bug = "own point"
	// Any death makes the job go back.
	unmasked bug = "unmasked"
	// A rank counts as captured when one of its replicas has said so, and as kept where all are.
	halfCaptured bug = "half captured"
	// What a process had said before it died counts for the next snapshot.
	staleSent bug = "stale sent"
	// A replacement is started while a snapshot is being taken.
	healedMeanwhile bug = "healed meanwhile"
	// A snapshot is taken while a replacement joins.
	takenWhileJoining bug = "taken while joining"
	// A process sends no marker to one that it takes for dead, and nobody waits for that.
	suspectsLeftOut bug = "suspects left out"
	// In leader order a process stands while what it has sent waits for siblings.
	unwaited bug = "unwaited"
	// What was decided before the first safe point isn't in the snapshot.
	unprefixed bug = "unprefixed"
	// Processes in leader order don't stand at their first safe point until all do.
	ungathered bug = "ungathered"
	// A message that is sent again is left out of a snapshot whose program may have seen it.
	seenDropped bug = "seen dropped"
)

// before runs before the coordinator is told anything.
func (b bug) before(w *world) {
	c := w.coordinator
	switch {
	case b == committedEarly && c.taking != Beginning && c.phase == runs:
		for r := range c.shares {
			c.shares[r].awaited = nil
		}
	case b == oldReports:
		for i := range w.said {
			w.said = slices.Clone(w.said)
			w.said[i].report.Epoch = c.epoch
		}
	case b == ownPoint: // and nobody compares
		w.said = slices.Clone(w.said)
		for i := range w.said {
			w.said[i].report.Sends = uint64(w.procs[w.layout.Proc(w.layout.Rank(w.said[i].from), 0)].sent)
		}
	case b == numberAgain && c.taking == Beginning:
		c.last = c.committed
	case b == halfCaptured && c.phase == saves && !c.loads:
		for i := range c.members {
			c.members[i].said = c.members[i].said || w.layout.Replica(proto.Proc(i)) > 0
		}
	case b == unmasked && c.phase == runs:
		for i, p := range w.procs {
			if !p.alive && p.reaped && !p.finalised {
				for k := range c.members {
					c.members[k].left = false
					c.members[k].alive = c.members[k].alive && k == i
				}
			}
		}
	}
}

// actions are the actions that are carried out.
func (b bug) actions(w *world, out []Action) []Action {
	switch b {
	case unaimed:
		for i, a := range out {
			if a.Kind == Tell && a.Order.Kind == Aim {
				out[i].Order.At = w.coordinator.members[a.Proc].at
			}
		}
	case staleSent:
		for i, a := range out {
			if a.Kind == Tell && a.Order.Kind == Flush && !w.procs[0].alive && w.procs[0].reaped && slices.Contains(w.procs[0].to, a.Proc) {
				out[i].Order.From = append([]proto.Proc{0}, a.Order.From...)
			}
		}
	case ownPoint:
		for i, a := range out {
			if a.Kind == Tell && a.Order.Kind == Aim && w.layout.Replica(a.Proc) == 1 {
				out[i].Order.At = w.coordinator.members[a.Proc].at
			}
		}
	case numberAgain:
		return slices.DeleteFunc(out, func(a Action) bool { return a.Kind == Discard })
	case unmended:
		return slices.DeleteFunc(out, func(a Action) bool {
			return a.Kind == Copy && a.Snapshot == w.coordinator.committed && a.To.Host != w.procs[a.To.Proc].home
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
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 3, snapshots: 1, deaths: 1, bug: future}, errTwoCut},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 3, snapshots: 1, bug: ownPoint}, errTwoCut},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 2, deaths: 1, bug: unmasked}, errNeedless},
		{options{ranks: 2, hosts: 2, replicas: []int{2, 1}, steps: 2, snapshots: 1, bug: halfCaptured}, nil},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 2, snapshots: 1, deaths: 1, bug: staleSent}, nil},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 3, snapshots: 2, deaths: 1, replacements: 1, queued: true, bug: healedMeanwhile}, nil},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, steps: 3, snapshots: 2, deaths: 1, replacements: 1, queued: true, bug: takenWhileJoining}, nil},
		{options{ranks: 2, hosts: 1, steps: 2, snapshots: 1, suspicions: 1, bug: suspectsLeftOut}, errTwoCut},
		{options{ranks: 2, hosts: 1, led: true, steps: 2, snapshots: 1, bug: unwaited}, errTwoCut},
		{options{ranks: 2, hosts: 1, led: true, choices: 1, steps: 2, snapshots: 1, deaths: 1, bug: unprefixed}, errSetUp},
		{options{ranks: 2, hosts: 1, led: true, steps: 3, snapshots: 1, deaths: 1, bug: ungathered}, nil},
		{options{ranks: 2, hosts: 1, replicas: []int{2, 1}, led: true, steps: 3, snapshots: 1, deaths: 1, ahead: true, bug: seenDropped}, errTwoCut},
	} {
		t.Run(string(tc.bug), func(t *testing.T) {
			var stats explore.Stats
			var err error
			many := tc.replacements > 0 || tc.ahead // states before the mistake
			if !many {
				stats, err = explore.All(newWorld(tc.options), 1e6)
			}
			for seed := uint64(1); many && seed <= 50_000 && err == nil; seed++ {
				err = explore.Random(newWorld(tc.options), seed, 5000)
			}
			var v *explore.Violation
			if !errors.As(err, &v) || tc.want != nil && !errors.Is(err, tc.want) {
				t.Fatalf("%d states: %v", stats.States, err)
			}
			t.Logf("%d states: %v", stats.States, v.Err)
		})
	}
}
