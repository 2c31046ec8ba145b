package mailbox

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// Values of several givers arrive, each once, those of one giver in their order, and before the
// mailbox is drained.
func TestOrder(t *testing.T) {
	const givers, each = 8, 1000
	got := make([][]int, givers)
	m := New(func(v [2]int) { got[v[0]] = append(got[v[0]], v[1]) })
	var all sync.WaitGroup
	want := make([]int, each)
	for i := range want {
		want[i] = i
	}
	for g := range givers {
		all.Go(func() {
			for _, n := range want {
				m.Put([2]int{g, n})
				if n%100 == 0 {
					runtime.Gosched() // let it get empty
				}
			}
		})
	}
	all.Wait()
	m.Close()
	select {
	case <-m.Drained():
	case <-time.After(20 * time.Second):
		t.Fatal("never drained")
	}
	for g := range got {
		if !slices.Equal(got[g], want) {
			t.Errorf("giver %d: %d values, or another order", g, len(got[g]))
		}
	}
	m.Put([2]int{0, each}) // no effect
	if len(got[0]) != each {
		t.Error("a closed mailbox takes values")
	}
}

// A giver doesn't wait for a taker that is stuck. A mailbox that is closed empty is drained.
func TestStuck(t *testing.T) {
	stuck := make(chan struct{})
	taken := 0
	m := New(func(int) { <-stuck; taken++ })
	for i := range 100 {
		m.Put(i)
	}
	m.Close()
	select {
	case <-m.Drained():
		t.Fatal("drained though nothing was taken")
	default:
	}
	close(stuck)
	<-m.Drained()
	if taken != 100 {
		t.Errorf("%d values were taken", taken)
	}
	empty := New(func(int) {})
	empty.Close()
	<-empty.Drained()
}
