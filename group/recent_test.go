package group

import (
	"context"
	"testing"
)

// A watcher that falls behind is told how many views it has missed, and goes on with the oldest one
// that is kept. Nothing is lost silently.
func TestWatchMissed(t *testing.T) {
	m := &Member{recent: newRecent()}
	add := func(from, to uint64) {
		for n := from; n <= to; n++ {
			m.recent.add(View{Number: n})
		}
	}
	add(1, 5)
	next, sum := uint64(5), uint64(0)
	for c := range m.Watch(context.Background()) {
		if next += c.Missed; c.View.Number != next {
			t.Fatalf("view %d after %d missed: want %d", c.View.Number, c.Missed, next)
		}
		sum += c.Missed
		switch next++; c.View.Number {
		case 5:
			add(6, 205)
		case 205:
			m.recent.end()
		}
	}
	if next != 206 || sum != 200-kept {
		t.Errorf("ended before view %d, %d missed", next, sum)
	}
}
