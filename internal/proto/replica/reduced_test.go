package replica

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// # Fewer states
//
// An exploration of a world that is reduced leaves out what can't show anything new. It
// finds a broken promise if there is one: for each history, which is a sequence of events
// from the start, it tries one in which the same happens to each process up to the
// point at which it dies, and then perhaps more; and it comes to the same quiet worlds.
// TestReduction compares these with those of explorations that leave nothing out, and
// TestCanaries runs with the reductions.
//
//   - Idle frames. A frame that has no effect on its receiver now nor later (an eager
//     message that is there already, an acknowledgement of what isn't pending, both only
//     get older) arrives before all else. It commutes with all: whatever would come
//     before it finds the same processes after it.
//   - Unheard deaths. When somebody has died, or is taken for dead, the next event is that
//     one process hears of it, or that the slot begins to be filled. Before
//     that nobody else can tell the dead from one that is slow, so the death can be moved to
//     that point of the history. (It may be moved behind another death: each rank keeps
//     a process that runs or has left, at all times, which allows both in either
//     order. A replacement's death lets the next healing begin, so it isn't moved.)
//   - Late deaths. A process dies only when it can do nothing else for the moment. If it could, let
//     it, and then die: what it sends in that comes after all that it has sent, and a receiver
//     never sees it that hears of the death first (with options.purge) or has heard; and what the
//     dead knew is lost. (Where it did something to the whole world, such as to give up a
//     replacement, that doesn't hold; then it may die before that too.)
//   - A process that can be suspected first doesn't die otherwise. It may die at once then.
//
// Nor does the digest of a process, unless it is exact, hold what makes no difference any more:
//
//   - up to where a replica has acknowledged, unless that is ahead of what was sent: what
//     it says of messages that were sent is in their marks. Or if the replica is dead, for
//     a replacement in its slot begins with the donor's;
//   - what a sender is known to have below what has arrived, for the two are only compared, and
//     what has arrived only grows; how many arrivals are to be acknowledged at once;
//   - which process has offered what is complete, and which one gave a process its state.

// reduce leaves out events of a state.
func (w *world) reduce(events []event) []event {
	if w.unheard != proto.NoProc && slices.ContainsFunc(events, w.depends) { // else nobody is left to hear
		return slices.DeleteFunc(events, func(e event) bool { return !w.depends(e) })
	}
	for _, e := range events {
		if e.kind == evDeliver && w.idle(e) {
			return append(events[:0], e)
		}
	}
	var busy, suspected uint64
	for _, e := range events {
		switch e.kind {
		case evStep, evFlush, evDeliver, evNotice:
			if busy&(1<<e.at) == 0 && w.local(e) {
				busy |= 1 << e.at
			}
		case evSuspect:
			suspected |= 1 << e.at
		}
	}
	return slices.DeleteFunc(events, func(e event) bool {
		return e.kind == evCrash && (busy|suspected)&(1<<e.at) != 0
	})
}

// depends says of an event that it depends on the unheard death.
func (w *world) depends(e event) bool {
	switch e.kind {
	case evNotice, evHeal:
		return e.other == w.unheard
	case evCrash:
		return e.at == w.unheard // who is suspected so far
	}
	return false
}

// local says of an event that it changes nothing but its process, and what that sends.
func (w *world) local(e event) bool {
	var f frame
	if e.kind == evDeliver {
		f = (*w.channel(e.other, e.at)).frames[0]
	}
	r, err := w.memo.react(w.rules, w.nodes[e.at], e, f)
	return err == nil && !r.died && !r.healed && r.abandoned == proto.NoProc
}

// idle says that a frame has no effect, now or later.
func (w *world) idle(e event) bool {
	n, f := w.nodes[e.at], (*w.channel(e.other, e.at)).frames[0]
	if f.kind != frameEager && f.kind != frameAck || n.status == joiner {
		return false // a joiner will have another state
	}
	r, err := w.memo.react(w.rules, n, e, f)
	return err == nil && r.n == n && len(r.sends) == 0
}

// TestReduction compares the quiet worlds that the explorations with and without the
// reductions come to, where the latter has at most 25,000 states; with
// BANYAN_EXPLORE=long 2 million.
func TestReduction(t *testing.T) {
	unquiet := func(dead uint64) options {
		return options{dead: dead, heals: 1, donors: anyone, crashes: 1, victims: anyone, suspect: true, leave: true}
	}
	few := append(scenarios(),
		scenario{layout.Partial([]int{2, 1}), "s r / r s", unquiet(0b100), false},
		scenario{layout.Partial([]int{2, 1}), "o r / r o", unquiet(0b100), false},
		scenario{layout.Partial([]int{3, 1}), "r / s", unquiet(0b1000), true},
		scenario{layout.Partial([]int{3, 1}), "s / r", unquiet(0b1000), true},
		scenario{layout.Partial([]int{3, 1}), "r / o", unquiet(0b1000), true},
	)
	limit := 25_000
	if explore.Long() {
		limit = 2_000_000
	}
	compared := 0
	for _, s := range few {
		if s.long && !explore.Long() {
			continue
		}
		full, reduced := s.world(t), s.world(t)
		full.reduced = false
		full.ends, reduced.ends = make(map[string]bool), make(map[string]bool)
		of, err := exploreAll(full, limit, nil)
		if errors.Is(err, explore.ErrLimit) {
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		states, err := exploreAll(reduced, all, nil)
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		compared++
		t.Logf("%v: %d states of %d, %d ends", s, states, of, len(full.ends))
		if !maps.Equal(full.ends, reduced.ends) {
			t.Errorf("%v: %d states with %d ends; without reductions %d with %d", s, states, len(reduced.ends), of, len(full.ends))
		}
	}
	if compared < 20 {
		t.Errorf("%d are small enough", compared)
	}
}
