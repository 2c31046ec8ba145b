package launcher

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// What the ends of its replicas mean for a rank. "run" runs, "left" left in order, "!3" exited with
// 3 after finalising, other replicas died early.
func TestRankEnd(t *testing.T) {
	for _, tc := range []struct {
		replicas   string
		want       rankEnd
		substitute int // -1: none
	}{
		{"run", rankEnd{}, 0},
		{"left", rankEnd{}, 0},
		{"sig9 run", rankEnd{}, 1},
		{"sig9 left", rankEnd{}, 1},
		{"left sig9", rankEnd{}, 0},
		{"3 run run", rankEnd{}, 1},
		{"sig9", rankEnd{true, true, 137}, -1},
		{"3", rankEnd{true, true, 3}, -1},
		{"0", rankEnd{true, true, 1}, -1},
		{"3 3", rankEnd{true, true, 3}, -1},
		{"3 4", rankEnd{true, true, 1}, -1},
		{"sig9 3", rankEnd{true, true, 3}, -1}, // killed from outside; by itself it ended with 3
		{"sig11 sig9", rankEnd{true, true, 139}, -1},
		{"sig9 3 4", rankEnd{true, true, 1}, -1},
		{"!3 !sig9", rankEnd{true, false, 3}, -1},
		{"sig11 sig11 sig11", rankEnd{true, true, 139}, -1},
		{"0 0", rankEnd{true, true, 1}, -1},
		{"!3", rankEnd{true, false, 3}, -1},
		{"!3 !3", rankEnd{true, false, 3}, -1},
		{"!3 !4", rankEnd{true, false, 1}, -1},
		{"sig9 !3", rankEnd{true, false, 3}, -1}, // the second had stood in for the first
		{"!3 left", rankEnd{}, 1},
	} {
		fates := strings.Fields(tc.replicas)
		l := newLedger(layout.Uniform(1, len(fates)))
		for i, f := range fates {
			apply(l, proto.Proc(i), f)
		}
		if got := l.rankEnd(0); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.replicas, got, tc.want)
		}
		if got, ok := l.substitute(0); ok != (tc.substitute >= 0) || ok && got != tc.substitute {
			t.Errorf("%s: substitute %d, %v, want %d", tc.replicas, got, ok, tc.substitute)
		}
	}
}

// apply records the fate of a process.
func apply(l *ledger, p proto.Proc, fate string) {
	var n int
	e := &l.entries[p]
	e.ready = true
	switch {
	case fate == "run":
	case fate == "left":
		e.finalized = true
		l.ended(p, 0, 0)
	case strings.HasPrefix(fate, "!"):
		e.finalized = true
		apply(l, p, fate[1:])
	case strings.HasPrefix(fate, "sig"):
		fmt.Sscanf(fate, "sig%d", &n)
		l.ended(p, syscall.Signal(n), 0)
	default:
		fmt.Sscan(fate, &n)
		l.ended(p, 0, n)
	}
}

func TestExitCodeOfAJob(t *testing.T) {
	for _, tc := range []struct {
		ranks string // one replica each
		want  int
		lost  []int
	}{
		{"left left", 0, []int{}},
		{"left !3 !4", 3, []int{}},
		{"sig9 left", 0, []int{0}}, // a program that handles the loss
		{"sig9 !2 left", 2, []int{0}},
		{"sig9 5", 137, []int{0, 1}},
	} {
		fates := strings.Fields(tc.ranks)
		l := newLedger(layout.Uniform(len(fates), 1))
		for i, f := range fates {
			apply(l, proto.Proc(i), f)
		}
		if got := l.exitCode(); got != tc.want || !slices.Equal(l.lostRanks(), tc.lost) {
			t.Errorf("%s: exit code %d, lost %v, want %d, %v", tc.ranks, got, l.lostRanks(), tc.want, tc.lost)
		}
	}
}

// A program that never initialised the library may just exit.
func TestEndOfOtherPrograms(t *testing.T) {
	l := newLedger(layout.Uniform(1, 2))
	if end := l.ended(0, 0, 0); end.kind != inOrder {
		t.Errorf("exit 0 is %+v", end)
	}
	if end := l.ended(1, 0, 1); end.kind != diedEarly {
		t.Errorf("exit 1 is %+v", end)
	}
}
