package handshake

import (
	"net"
	"net/netip"
	"slices"
	"time"
)

const (
	// MaxPending is how many connections may be greeted at a time whose dialler has proved nothing
	// yet.
	MaxPending = 64
	// maxParked is how many may wait for that beside.
	maxParked = 256
	// pendingRight is how long a connection that is greeted is protected from those that wait.
	pendingRight = 200 * time.Millisecond
)

// source is where a connection comes from: an address, of IP version 6 the network of 64 bits,
// which a single host may have for itself. The zero source is unknown.
type source = netip.Prefix

func sourceOf(addr net.Addr) source {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return source{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}

// room decides which connections of unknown diallers are greeted, which wait and which are closed.
// It is a state machine: it is told the time, and acts on no connection.
//
// It shares its places by dynamic thresholds (Choudhury and Hahne, Dynamic Queue Length Thresholds
// for Shared-Memory Packet Switches, IEEE/ACM Transactions on Networking 6(2), 1998): a source may
// take another place as long as it has fewer than are free. So one source alone takes half of the
// places, k sources take 1/(k+1) each, and there is always one free for a source that has none, up
// to as many sources as there are places. The places where a connection is greeted and those where
// it waits are shared alike.
type room struct {
	greeted, parked         []*visitor // the oldest first
	greetedFrom, parkedFrom map[source]int
}

// visitor is a connection in the room.
type visitor struct {
	from  source
	since time.Time // when it began to be greeted
	conn  net.Conn  // the driver's
	at    *serving  // the driver's
}

// arrive lets a connection in. It returns false if the connection is to be closed: its source has
// too many.
func (r *room) arrive(v *visitor) bool {
	if r.parkedFrom == nil {
		r.greetedFrom, r.parkedFrom = map[source]int{}, map[source]int{}
	}
	if r.parkedFrom[v.from] >= maxParked-len(r.parked) {
		return false
	}
	r.parked = append(r.parked, v)
	r.parkedFrom[v.from]++
	return true
}

// next takes the connection that is to be greeted now: the oldest one of the source that has the
// fewest greeted. If it takes the place of another connection, that is evicted and has to be
// closed. If there is none to be greeted now, wait says when there may be one, 0: not before
// another arrives or leaves.
func (r *room) next(now time.Time) (next, evicted *visitor, wait time.Duration) {
	seen := map[source]bool{}
	for _, v := range r.parked {
		if seen[v.from] {
			continue
		}
		seen[v.from] = true
		if next != nil && r.greetedFrom[v.from] >= r.greetedFrom[next.from] {
			continue
		}
		if r.greetedFrom[v.from] < MaxPending-len(r.greeted) {
			next, evicted = v, nil
			continue
		}
		victim := r.oldest(v.from)
		if due := victim.since.Add(pendingRight).Sub(now); due <= 0 {
			next, evicted = v, victim
		} else if wait == 0 || due < wait {
			wait = due
		}
	}
	if next == nil {
		return nil, nil, wait
	}
	if evicted != nil {
		r.leave(evicted)
	}
	r.parked = remove(r.parked, next)
	count(r.parkedFrom, next.from, -1)
	next.since = now
	r.greeted = append(r.greeted, next)
	count(r.greetedFrom, next.from, 1)
	return next, evicted, 0
}

// oldest is the connection of a source that is greeted longest; of any source, if this one has
// none. There is one, because no place is free for the source.
func (r *room) oldest(from source) *visitor {
	for _, v := range r.greeted {
		if v.from == from {
			return v
		}
	}
	return r.greeted[0]
}

// leave frees a connection's place, if it has one.
func (r *room) leave(v *visitor) {
	if n := len(r.greeted); n > 0 {
		if r.greeted = remove(r.greeted, v); len(r.greeted) < n {
			count(r.greetedFrom, v.from, -1)
			return
		}
	}
	if n := len(r.parked); n > 0 {
		if r.parked = remove(r.parked, v); len(r.parked) < n {
			count(r.parkedFrom, v.from, -1)
		}
	}
}

func remove(all []*visitor, v *visitor) []*visitor {
	if i := slices.Index(all, v); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

// count keeps no source that has nothing.
func count(of map[source]int, from source, by int) {
	if of[from] += by; of[from] == 0 {
		delete(of, from)
	}
}
