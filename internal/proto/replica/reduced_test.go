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
// An exploration of a reduced world leaves out the histories that can't show anything new. A
// history is a sequence of events from the start. The exploration still finds every broken
// promise: for each history it tries one in which the same happens to each process up to its
// death, and perhaps more. It also reaches the same quiet worlds. TestReduction compares these
// with those of explorations that leave nothing out, and TestCanaries runs with the reductions.
//
//   - Idle frames. Some frames have no effect on their receiver, now or later: an eager message
//     that has arrived already, or an acknowledgement of what isn't pending. Both only get
//     older. Such a frame arrives before any other event. It commutes with all: every event
//     that would come before it finds the same processes after it.
//   - Unheard deaths. When a process has died, or is taken for dead, the next event is that
//     one process hears of it, or that the slot begins to be filled. Before that no other
//     process can tell the dead one from a slow one, so the death can be moved to that point
//     of the history. (It may be moved behind another death: each rank always keeps a process
//     that runs or has left, which allows both orders. A replacement's death lets the next
//     healing begin, so it isn't moved.)
//   - Late deaths. A process dies only when it can do nothing else for the moment. If it could
//     still act, let it act and then die. The frames that it sends in that time come after all
//     its earlier ones. A receiver that has heard of the death, or hears of it first (with
//     options.purge), never sees them; and what the dead process knew is lost. (An act that
//     changes the whole world, such as giving up a replacement, breaks this argument; then the
//     process may die before that act too.)
//   - A process that can be suspected first doesn't die in any other way. Once suspected it may
//     die at once.
//
// The digest of a process, unless it is exact, leaves out what makes no difference any more:
//
//   - the number up to which a replica has acknowledged, unless that is ahead of what was sent:
//     for messages that were sent, their marks say the same. Also where the replica is dead,
//     for a replacement in its slot begins with the donor's number;
//   - what a sender is known to have, below what has arrived: the two are only compared, and
//     what has arrived only grows; also how many arrivals are to be acknowledged at once;
//   - which process has offered what is complete, and which one gave a process its state.

// reduce leaves out events of a state.
func (w *world) reduce(events []event) []event {
	if w.unheard != proto.NoProc && slices.ContainsFunc(events, w.depends) { // else none is left to hear
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
		return e.at == w.unheard // suspected so far
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
