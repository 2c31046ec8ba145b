package topology

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

func orderOf(r *Ring) []proto.Proc {
	order := make([]proto.Proc, r.Len())
	for i := range order {
		order[i] = r.At(i)
	}
	return order
}

// checkRing fails unless the ring's functions agree with its order.
func checkRing(t interface{ Fatalf(string, ...any) }, r *Ring) {
	order := orderOf(r)
	n := len(order)
	for i, p := range order {
		if r.Position(p) != i || r.Next(p) != order[(i+1)%n] || r.Prev(p) != order[(i+n-1)%n] {
			t.Fatalf("%v at %d of %d is at %d between %v and %v", p, i, order, r.Position(p), r.Prev(p), r.Next(p))
		}
		for j, q := range order {
			if want := (j - i + n) % n; r.Ahead(p, q) != want {
				t.Fatalf("from %v to %v of %d: %d steps, want %d", p, q, order, r.Ahead(p, q), want)
			}
		}
	}
}

func TestRing(t *testing.T) {
	r, err := NewRing([]proto.Proc{4, 0, 7, 2})
	if err != nil {
		t.Fatal(err)
	}
	checkRing(t, r)
	checkRing(t, IdentityRing(5))
	for _, p := range []proto.Proc{-1, 1, 8, 1 << 30} {
		if r.Position(p) != -1 {
			t.Errorf("%v is at %d", p, r.Position(p))
		}
	}
	if i := IdentityRing(5); i.Position(5) != -1 || i.Position(-1) != -1 {
		t.Error("the identity has processes out of range")
	}
	for _, order := range [][]proto.Proc{{0, 1, 0}, {0, -1}} {
		if _, err := NewRing(order); err == nil {
			t.Errorf("the ring %d is accepted", order)
		}
	}
	if r, err := NewRing(nil); err != nil || r.Len() != 0 || r.Position(0) != -1 {
		t.Errorf("the empty ring: %v", err)
	}
}

func TestInterleavedRingOfEqualHosts(t *testing.T) {
	r := InterleavedRing([]int32{0, 0, 0, 1, 1, 1})
	if got, want := orderOf(r), []proto.Proc{0, 3, 1, 4, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
	if got, want := orderOf(InterleavedRing([]int32{0, 0, 0})), []proto.Proc{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("one host: got %d, want %d", got, want)
	}
	if got := InterleavedRing(nil).Len(); got != 0 {
		t.Errorf("nobody: a ring of %d", got)
	}
}

// Processes of one host are neighbours only where one host has more than half
// of all, and then no other host has neighbours.
func TestInterleavedRingKeepsHostsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.SliceOfN(rapid.Int32Range(0, 6), 2, 60).Draw(t, "hosts")
		count := make([]int, 7)
		for _, h := range hosts {
			count[h]++
		}
		largest := int32(slices.Index(count, slices.Max(count)))
		r := InterleavedRing(hosts)
		if r.Len() != len(hosts) {
			t.Fatalf("%d of %d processes", r.Len(), len(hosts))
		}
		checkRing(t, r)
		for p, h := range hosts {
			if next := hosts[r.Next(proto.Proc(p))]; next == h && (2*count[h] <= len(hosts) || h != largest) {
				t.Fatalf("hosts %d: %d and %v are neighbours in %d", hosts, p, r.Next(proto.Proc(p)), orderOf(r))
			}
		}
	})
}
