package groupnode

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// A member keeps only the last members' cards of all that have come and gone: no table, number of
// goroutines or connections grows.
func TestChurn(t *testing.T) {
	da, db := newViewLog(), newViewLog()
	a := testJoin(t, testConfig("a", da))
	b := testJoin(t, testConfig("b", db, a.Card().Address))
	goroutines := 0
	for i := range 40 {
		// New names, and old ones.
		m := testJoin(t, testConfig(fmt.Sprint("m", i%30), newViewLog(), a.Card().Address, b.Card().Address))
		if i%3 == 0 {
			m.Close()
		} else if err := m.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		da.await(t, 2)
		db.await(t, 2)
		if i == 5 {
			goroutines = runtime.NumGoroutine()
		}
	}
	for _, m := range []*Member{a, b} {
		var sizes []int
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			got := make(chan []int, 1)
			m.post(func() {
				got <- []int{len(m.cards), len(m.links), len(m.streams), len(m.endings), len(m.reserved), len(m.machine.View().Past)}
			})
			sizes = <-got
			// Two members; the card of the member that went last; the one number that all had.
			if sizes[0] <= 3 && sizes[1] <= 1 && sizes[2] <= 1 && sizes[3] <= 1 && sizes[4] == 0 && sizes[5] <= 1 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s keeps cards, links, streams, endings, reservations, numbers: %v", m.Card().Name, sizes)
			}
		}
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines+5; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d after the first few", runtime.NumGoroutine(), goroutines)
		}
	}
}
