package oneport

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// TestQueue: events come out by time, and within an instant as they were added, when adding and
// taking alternate, also where an event is added before one that take found to be too late.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var model []event // sorted
		now := proto.Time(0)
		for i := range rapid.IntRange(0, 300).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "add") {
				bits := rapid.IntRange(0, 40).Draw(t, "bits")
				e := event{now + proto.Time(rapid.Int64Range(0, 1<<bits).Draw(t, "ahead")), int32(i), timer}
				q.add(e)
				at, _ := slices.BinarySearchFunc(model, e.time+1, func(m event, at proto.Time) int { return int(m.time - at) })
				model = slices.Insert(model, at, e)
				continue
			}
			until := now + proto.Time(rapid.Int64Range(0, 1<<40).Draw(t, "until"))
			e, ok := q.take(until)
			wantOK := len(model) > 0 && model[0].time <= until
			if ok != wantOK || ok && e != model[0] {
				t.Fatalf("take(%d) at %d = %v, %v; want %v of %v", until, now, e, ok, wantOK, model)
			}
			if ok {
				now, model = e.time, model[1:]
			}
		}
		for _, want := range model {
			if e, ok := q.take(proto.Never); !ok || e != want {
				t.Fatalf("got %v, %v, want %v", e, ok, want)
			}
		}
		if e, ok := q.take(proto.Never); ok {
			t.Fatalf("%v is too much", e)
		}
	})
}
