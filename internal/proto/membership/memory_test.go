package membership

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"banyan/internal/testing/explore"
)

// kept is how many bytes of memory the result of make takes.
func kept[T any](make func() T) (T, uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	return x, after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
}

// TestMemory compares the heap's growth with the bytes for each member that the package doc
// states.
func TestMemory(t *testing.T) {
	const n = 1 << 20
	v, bytes := kept(func() *View { return FirstView(n) })
	if per := float64(bytes) / n; per < 11.9 || per > 12.1 {
		t.Errorf("a view of %d: %.2f bytes for each member, want 12", n, per)
	}
	var gone []Departure
	for p := 0; p < n; p += 2 {
		gone = append(gone, Departure{v.Members[p], Died})
	}
	w, bytes := kept(func() *View { return v.Next(gone, nil) })
	// 12 bytes for each member, 8 for each former one, 12 for each that has just gone.
	if want := float64(n/2*12 + n/2*8 + n/2*12); float64(bytes) < 0.98*want || float64(bytes) > 1.02*want {
		t.Errorf("after half have died: %d bytes, want %.0f", bytes, want)
	}
	m, bytes := kept(func() *Machine { return New(Config{Self: w.Members[0]}, w) })
	if bytes > 1024 {
		t.Errorf("a machine beside its view: %d bytes", bytes)
	}
	runtime.KeepAlive(v)
	runtime.KeepAlive(gone)
	runtime.KeepAlive(w)
	runtime.KeepAlive(m)
}

// neighbourhood is what a member would have to keep of a view if it kept only what it needs to
// pass proposals on and answers up, in a tree of arity 2.
type neighbourhood struct {
	Number      uint64
	Place       int32 // its own
	Count       int32 // for the quorum, if it became the coordinator
	Parent      Member
	Children    [2]Member
	Coordinator Member
	Next        [2]Member // the coordinators after that
}

// TestLocalised evaluates views of constant size: what they would save, and what a death would
// change in them. docs/results/membership-bench.md has the table (-v).
func TestLocalised(t *testing.T) {
	const arity = 2
	random := rand.New(rand.NewPCG(1, 1))
	local := int(unsafe.Sizeof(neighbourhood{}))
	sizes := []int{1 << 10, 1 << 15}
	if explore.Long() {
		sizes = append(sizes, 1<<20) // some seconds
	}
	for _, n := range sizes {
		deaths := 40
		if n > 1<<16 {
			deaths = 8
		}
		compacted, filled, levels := 0, 0, 0
		for range deaths {
			dead := 1 + random.IntN(n-1)
			compacted += changed(n, arity, func(place int) int {
				if place >= dead {
					return place + 1
				}
				return place
			})
			filled += changed(n, arity, func(place int) int {
				if place == dead {
					return n - 1
				}
				return place
			})
		}
		for place := n - 1; place > 0; place = (place - 1) / arity {
			levels++
		}
		t.Logf("%d members: view %d bytes, neighbourhood %d; a death changes %.1f %% of the neighbourhoods, %.1f of them if the last fills the place; a proposal is %d bytes and %d hops",
			n, 12*n, local, 100*float64(compacted)/float64(deaths*n), float64(filled)/float64(deaths), 2*8*n, levels)
		if share := float64(compacted) / float64(deaths*n); share < 0.3 || share > 0.6 {
			t.Errorf("compaction changes %.2f of the neighbourhoods: the docs say nearly half", share)
		}
		if most := float64(filled) / float64(deaths); most > 2*arity+3 {
			t.Errorf("filling a hole changes %.1f neighbourhoods: the docs say a few", most)
		}
	}
}

// changed counts the members of a full tree of n whose parent or children change when one has
// died. The member at position p was at position before(p) until then.
func changed(n, arity int, before func(place int) int) int {
	at := func(place, size int, who func(int) int) [8]int {
		var x [8]int
		if x[0] = -1; place > 0 {
			x[0] = who((place - 1) / arity)
		}
		for i := range arity {
			if x[i+1] = -1; arity*place+1+i < size {
				x[i+1] = who(arity*place + 1 + i)
			}
		}
		return x
	}
	same := func(p int) int { return p }
	count := 0
	for place := range n - 1 {
		if at(place, n-1, before) != at(before(place), n, same) {
			count++
		}
	}
	return count
}
