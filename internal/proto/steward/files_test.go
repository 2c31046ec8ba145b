package steward

import (
	"errors"
	"fmt"
	"testing"

	"banyan/internal/testing/explore"
)

// filesLeases is two hosts whose witness is files: the steward may conclude that the other one is
// lost.
func filesLeases(steward, last, lies, bits int) leasesSetting {
	s := leasesOf(2, true, steward, last, bits)
	s.files, s.lies = true, lies
	return s
}

// worst is that the steward's clock is fast and the last host's slow.
const worst = 1

// TestFilesLeases tries all orders of two agents' questions and calls of the file system, with
// clocks that differ, when they don't hear each other; and many orders when they do.
func TestFilesLeases(t *testing.T) {
	for _, tc := range []struct {
		steward, last, lies int
		long                bool
	}{{1, 1, 0, false}, {1, 1, 1, true}, {2, 1, 1, true}, {1, 2, 1, true}, {1, 2, 2, true}, {2, 2, 1, true}} {
		t.Run(fmt.Sprintf("%+v", tc), func(t *testing.T) {
			for seed := range uint64(300) {
				if err := explore.Random(newLeases(filesLeases(tc.steward, tc.last, tc.lies, int(seed%8))), seed+1, 1000); err != nil {
					t.Fatal(err)
				}
			}
			if tc.long && !explore.Long() {
				return
			}
			states := 0
			for bits := range 8 {
				if bits != worst && !explore.Long() {
					continue
				}
				s := filesLeases(tc.steward, tc.last, tc.lies, bits)
				s.cut = true
				stats, err := explore.All(newLeases(s), 20_000_000)
				states += stats.States
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d states", states)
		})
	}
}

// TestFilesTerms does so for campaigns of both agents, and for what they write.
func TestFilesTerms(t *testing.T) {
	for _, tc := range []struct {
		begin, change, leave, lies int
		long                       bool
	}{{1, 0, 0, 1, false}, {2, 0, 1, 1, false}, {2, 1, 1, 1, true}, {3, 0, 1, 1, true}, {2, 0, 1, 2, true}} {
		t.Run(fmt.Sprintf("%+v", tc), func(t *testing.T) {
			s := termsSetting{hosts: 2, voters: 2, withWitness: true, files: true, begin: tc.begin, change: tc.change, leave: tc.leave, lies: tc.lies}
			for seed := range uint64(300) {
				if err := explore.Random(newTerms(s), seed+1, 1000); err != nil {
					t.Fatal(err)
				}
			}
			if tc.long && !explore.Long() {
				return
			}
			s.cut = true
			stats, err := explore.All(newTerms(s), 20_000_000)
			t.Logf("%d states, %d ends, depth %d", stats.States, stats.Ends, stats.Depth)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestFilesCanaries checks that the explorations find each mistake.
func TestFilesCanaries(t *testing.T) {
	caught := func(t *testing.T, stats explore.Stats, err error) {
		t.Helper()
		if v := (*explore.Violation)(nil); !errors.As(err, &v) {
			t.Fatalf("not caught in %d states: %v", stats.States, err)
		}
		t.Log(err)
	}
	for _, m := range []diskMistake{overwritten, passedOver, untrue} {
		t.Run("leases: "+string(m), func(t *testing.T) {
			if m == passedOver && !explore.Long() {
				t.Skip("long")
			}
			s := filesLeases(1, 1, b2i(m == passedOver), worst)
			s.cut, s.mistake = true, m
			stats, err := explore.All(newLeases(s), 1_000_000)
			caught(t, stats, err)
		})
		t.Run("terms: "+string(m), func(t *testing.T) {
			s := termsSetting{hosts: 2, voters: 2, begin: 2, leave: 1, lies: 1, withWitness: true, files: true, cut: true, mistake: m}
			stats, err := explore.All(newTerms(s), 1_000_000)
			caught(t, stats, err)
		})
	}
	for _, b := range []bug{leaseForgotten, leaseFromAnswer, noMargin} {
		t.Run("leases: "+string(b), func(t *testing.T) {
			if b == leaseFromAnswer && !explore.Long() {
				t.Skip("long")
			}
			// An agent counts a lease out that has read of it in time: with a question before.
			s := filesLeases(1+b2i(b == leaseFromAnswer), 1, 0, worst)
			s.cut, s.bug = true, b
			stats, err := explore.All(newLeases(s), 1_000_000)
			caught(t, stats, err)
		})
	}
}
