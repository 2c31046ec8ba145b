package handshake

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"
)

func place(host byte) source {
	p, _ := netip.AddrFrom4([4]byte{10, 0, host / 200, host % 200}).Prefix(32)
	return p
}

// visit lets a connection in and greets all that may be greeted. It says whether it was let in, and
// who was evicted.
func (r *room) visit(now time.Time, v *visitor) (in bool, evicted []*visitor) {
	in = r.arrive(v)
	for {
		next, out, _ := r.next(now)
		if out != nil {
			evicted = append(evicted, out)
		}
		if next == nil {
			return in, evicted
		}
	}
}

func (r *room) greets(v *visitor) bool {
	for _, g := range r.greeted {
		if g == v {
			return true
		}
	}
	return false
}

// A source that sends thousands of connections takes half of the places. Others are greeted at
// once, as if it weren't there.
func TestFloodFromOneSource(t *testing.T) {
	var r room
	now := time.Now()
	for range 2000 {
		r.visit(now, &visitor{from: place(1)})
	}
	if len(r.greeted) != MaxPending/2 || len(r.parked) != maxParked/2 {
		t.Errorf("%d are greeted, %d wait", len(r.greeted), len(r.parked))
	}
	for host := byte(2); host < 7; host++ {
		v := &visitor{from: place(host)}
		if in, evicted := r.visit(now, v); !in || len(evicted) > 0 || !r.greets(v) {
			t.Errorf("host %d isn't greeted at once", host)
		}
	}
}

// Up to as many sources as there are places leave one for the next. With more an honest source
// waits until others have had their time.
func TestFloodFromManySources(t *testing.T) {
	flood := func(sources int) (r *room, now time.Time) {
		r, now = new(room), time.Now()
		for i := range 20 * sources {
			r.visit(now, &visitor{from: place(byte(i % sources))})
		}
		if len(r.greeted) > MaxPending || len(r.parked) > maxParked {
			t.Errorf("%d sources: %d are greeted, %d wait", sources, len(r.greeted), len(r.parked))
		}
		return r, now
	}
	honest := &visitor{from: place(201)}
	r, now := flood(MaxPending - 1)
	if in, evicted := r.visit(now, honest); !in || len(evicted) > 0 || !r.greets(honest) {
		t.Error("it isn't greeted at once")
	}
	r, now = flood(150)
	r.visit(now, honest)
	if r.greets(honest) {
		t.Fatal("it is greeted at once: there are too few sources for this test")
	}
	later := now.Add(pendingRight)
	for range MaxPending {
		r.next(later)
	}
	for turn := 1; !r.greets(honest); turn++ {
		if turn > 1+maxParked/MaxPending {
			t.Fatal("its turn never comes")
		}
		r.visit(later, honest)
		later = later.Add(pendingRight)
	}
}

// Connections of the same source get the places of older ones, in turn, once these have had their
// time.
func TestTurnsWithinASource(t *testing.T) {
	var r room
	now := time.Now()
	var first []*visitor
	for range MaxPending / 2 {
		v := &visitor{from: place(1)}
		first = append(first, v)
		r.visit(now, v)
	}
	late := &visitor{from: place(1)}
	if in, evicted := r.visit(now, late); !in || len(evicted) > 0 || r.greets(late) {
		t.Fatal("it doesn't wait")
	}
	_, _, wait := r.next(now.Add(pendingRight / 4))
	if wait != pendingRight*3/4 {
		t.Errorf("it is to wait for %v", wait)
	}
	next, evicted, _ := r.next(now.Add(pendingRight))
	if next != late || evicted != first[0] || !r.greets(late) || r.greets(first[0]) {
		t.Errorf("next is %p, evicted %p", next, evicted)
	}
	// One that leaves makes room, too.
	later := &visitor{from: place(1)}
	r.visit(now.Add(pendingRight), later)
	if len(r.parked) > 0 { // the second of the first has had its time as well
		t.Error("it waits")
	}
}

// Whatever comes and goes, bounds and counts hold, nobody is evicted before its time, and a source
// without a place never waits while one is free.
func TestRoomAtRandom(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var r room
		now := time.Now()
		var all []*visitor
		for range 1000 {
			now = now.Add(time.Duration(rng.IntN(5)) * time.Millisecond)
			switch rng.IntN(3) {
			case 0:
				if len(all) > 0 {
					r.leave(all[rng.IntN(len(all))])
				}
			default:
				v := &visitor{from: place(byte(rng.ExpFloat64() * 3))}
				all = append(all, v)
				r.arrive(v)
			}
			for {
				next, evicted, _ := r.next(now)
				if evicted != nil && now.Sub(evicted.since) < pendingRight {
					t.Fatalf("seed %d: evicted after %v", seed, now.Sub(evicted.since))
				}
				if next == nil {
					break
				}
			}
			greeted, parked := map[source]int{}, map[source]int{}
			for _, v := range r.greeted {
				greeted[v.from]++
			}
			for _, v := range r.parked {
				parked[v.from]++
				if len(r.greeted) < MaxPending && greeted[v.from] == 0 {
					t.Fatalf("seed %d: one waits beside free places", seed)
				}
			}
			if len(r.greeted) > MaxPending || len(r.parked) > maxParked || len(greeted) != len(r.greetedFrom) || len(parked) != len(r.parkedFrom) {
				t.Fatalf("seed %d: %d are greeted, %d wait", seed, len(r.greeted), len(r.parked))
			}
			for s, n := range greeted {
				if r.greetedFrom[s] != n {
					t.Fatalf("seed %d: %d are greeted, counted %d", seed, n, r.greetedFrom[s])
				}
			}
		}
	}
}

func TestSourceOf(t *testing.T) {
	for text, want := range map[string]string{
		"10.1.2.3:4":            "10.1.2.3/32",
		"[::ffff:10.1.2.3]:4":   "10.1.2.3/32",
		"[2001:db8:1:2:3::4]:5": "2001:db8:1:2::/64",
		"[fe80::1%lo]:5":        "fe80::/64",
	} {
		addr, err := net.ResolveTCPAddr("tcp", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := sourceOf(addr); got.String() != want {
			t.Errorf("%s comes from %v", text, got)
		}
	}
}
