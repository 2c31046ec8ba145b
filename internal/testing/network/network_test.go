package network

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// TestClones: a network and its clones change on their own.
func TestClones(t *testing.T) {
	const size = 2
	rapid.Check(t, func(t *rapid.T) {
		type copies struct {
			network Network[int]
			model   [size * size][]int
		}
		worlds := []*copies{{network: New[int](size)}}
		for i := range rapid.IntRange(0, 100).Draw(t, "steps") {
			w := worlds[rapid.IntRange(0, len(worlds)-1).Draw(t, "world")]
			from, to := rapid.IntRange(0, size-1).Draw(t, "from"), rapid.IntRange(0, size-1).Draw(t, "to")
			q := &w.model[from*size+to]
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				w.network.Send(from, to, i)
				*q = append(slices.Clone(*q), i)
			case 2:
				if len(*q) > 0 {
					if got := w.network.Receive(from, to); got != (*q)[0] {
						t.Fatalf("received %d, want %d", got, (*q)[0])
					}
					*q = slices.Clone((*q)[1:])
				}
			case 3:
				count := rapid.IntRange(0, len(*q)).Draw(t, "count")
				w.network.Keep(from, to, count)
				*q = slices.Clone((*q)[:count])
			case 4:
				w.network.Deafen(to)
				for p := range size {
					w.model[p*size+to] = nil
				}
			case 5:
				worlds = append(worlds, &copies{w.network.Clone(), w.model})
			}
		}
		for _, w := range worlds {
			quiet := true
			for i, want := range w.model {
				if got := w.network.Queue(i/size, i%size); !slices.Equal(got, want) {
					t.Fatalf("%v under way from %d to %d, want %v", got, i/size, i%size, want)
				}
				quiet = quiet && len(want) == 0
			}
			if w.network.Quiet() != quiet {
				t.Fatalf("quiet is %t, want %t", !quiet, quiet)
			}
		}
	})
}

// TestSchedule: events come in the order of their times, then of their adding.
func TestSchedule(t *testing.T) {
	var s Schedule[int]
	if s.Time() != proto.Never {
		t.Error("something happens in an empty schedule")
	}
	for i, at := range []proto.Time{5, 3, 5, 1, 3} {
		s.Add(at, i)
	}
	var got []int
	for s.Time() != proto.Never {
		got = append(got, s.Next())
	}
	if want := []int{3, 1, 4, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("events in the order %v, want %v", got, want)
	}
}
