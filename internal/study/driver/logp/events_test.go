package logp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// TestSchedule: events come out ordered by time and stage, and then as they were added.
func TestSchedule(t *testing.T) {
	type event struct {
		time  proto.Time
		stage eventStage
		x     Message
	}
	var memory slab
	s := schedule{slab: &memory}
	rapid.Check(t, func(t *rapid.T) {
		s.clear()
		memory.reset()
		var want, got []event
		for i := range rapid.IntRange(0, 200).Draw(t, "events") {
			e := event{
				proto.Time(rapid.IntRange(0, 9).Draw(t, "time")),
				eventStage(rapid.IntRange(0, int(stages)-1).Draw(t, "stage")), Message(i),
			}
			s.add(e.time, e.stage, e.x)
			want = append(want, e)
		}
		slices.SortStableFunc(want, func(a, b event) int {
			if a.time != b.time {
				return int(a.time - b.time)
			}
			return int(a.stage - b.stage)
		})
		leave := rapid.IntRange(0, 2).Draw(t, "moments left for clear")
		for len(s.due) > leave {
			next := s.next()
			m := s.take()
			for stage, events := range m.events {
				for !events.empty() {
					got = append(got, event{next, eventStage(stage), memory.pop(&events)})
				}
			}
			s.release(m)
		}
		if !slices.Equal(got, want[:len(got)]) || len(s.due) == 0 && len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		s.clear()
		if s.next() != proto.Never {
			t.Fatal("there is more")
		}
	})
}
