package groupnode

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"banyan/internal/proto/membership"
)

// cutNetwork is a network that can be cut. Every member is reached through a relay of its own,
// which reads the dialler's name in the hello. Bytes that can't pass wait, as does the end of a
// stream: a network that loses packets until it heals does the same.
type cutNetwork struct {
	mu      sync.Mutex
	change  *sync.Cond
	side    map[string]int  // by name; members of different sides don't hear each other
	lost    map[string]bool // by name: what it has sent doesn't arrive, and its connections break
	closed  bool
	running sync.WaitGroup
	members []cutMember
}

func newCutNetwork(t *testing.T) *cutNetwork {
	w := &cutNetwork{side: map[string]int{}, lost: map[string]bool{}}
	w.change = sync.NewCond(&w.mu)
	t.Cleanup(func() {
		w.mu.Lock()
		w.closed = true
		w.change.Broadcast()
		w.mu.Unlock()
		w.running.Wait()
	})
	return w
}

// split puts the members named first on side 1, those named second on side 2, and all others on
// side 0.
func (w *cutNetwork) split(sides ...[]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.side)
	for i, names := range sides {
		for _, name := range names {
			w.side[name] = i + 1
		}
	}
	w.change.Broadcast()
}

// pass waits until two members are on one side. It returns false at the end of the test.
func (w *cutNetwork) pass(from, to string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed && w.side[from] != w.side[to] {
		w.change.Wait()
	}
	return !w.closed
}

// lose drops all that a host had sent, as if the host had restarted.
func (w *cutNetwork) lose(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost[name] = true
}

func (w *cutNetwork) hasLost(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost[name]
}

// relay passes on the bytes for a member.
type relay struct {
	w      *cutNetwork
	target string // where the member listens, set before others hear of the relay
	name   string
	socket net.Listener
	mu     sync.Mutex
	conns  []net.Conn
}

func (w *cutNetwork) relay(t *testing.T, name string) *relay {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{w: w, name: name, socket: socket}
	w.running.Go(func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			r.keep(conn)
			w.running.Go(func() { r.serve(conn) })
		}
	})
	t.Cleanup(func() {
		r.refuse()
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range r.conns {
			c.Close()
		}
	})
	return r
}

func (r *relay) keep(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, c)
}

// refuse stops listening, as at the member's end.
func (r *relay) refuse() { r.socket.Close() }

func (r *relay) serve(near net.Conn) {
	defer near.Close()
	head := make([]byte, 14+32) // the part of a hello before its payload
	if _, err := io.ReadFull(near, head); err != nil {
		return
	}
	body := make([]byte, int(head[12])|int(head[13])<<8)
	if _, err := io.ReadFull(near, body); err != nil {
		return
	}
	h, err := decodeHello(body)
	if err != nil || !r.w.pass(h.card.Name, r.name) {
		return
	}
	far, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer far.Close()
	r.keep(far)
	far.Write(append(head, body...))
	back := make(chan struct{})
	go func() {
		defer close(back)
		r.carry(near, far, h.card.Name)
	}()
	r.carry(far, near, h.card.Name)
	<-back
}

// carry passes on the bytes in one direction.
func (r *relay) carry(to, from net.Conn, dialler string) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if !r.w.pass(dialler, r.name) {
			return
		}
		if r.w.hasLost(dialler) {
			to.(*net.TCPConn).SetLinger(0)
			to.Close()
			return
		}
		to.Write(b[:n])
		if err != nil {
			if errors.Is(err, io.EOF) {
				to.(*net.TCPConn).CloseWrite()
			} else {
				to.(*net.TCPConn).SetLinger(0)
				to.Close()
			}
			return
		}
	}
}

// cutMember is a member in a cutNetwork.
type cutMember struct {
	*Member
	*viewLog
	r *relay
}

// A member that a loaded machine holds up for cutTimeout is excluded, rightly, and after a cut the
// others may be no majority then.
const (
	cutPeriod  = 15 * time.Millisecond
	cutTimeout = 2 * time.Second
)

func (w *cutNetwork) join(t *testing.T, name string, seeds ...string) cutMember {
	t.Helper()
	m, err := w.try(t, name, 10*time.Second, seeds...)
	if err != nil {
		w.dump(t)
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// dump logs the state of the members.
func (w *cutNetwork) dump(t *testing.T) {
	for _, m := range w.members {
		t.Logf("%s: %v, view %d of %v", m.r.name, m.Err(), m.last().Number, m.last().Members)
	}
}

// try is join for a member that the group may not let in.
func (w *cutNetwork) try(t *testing.T, name string, limit time.Duration, seeds ...string) (cutMember, error) {
	t.Helper()
	r := w.relay(t, name)
	d := newViewLog()
	cfg := Config{Name: name, Secret: testSecret, Seeds: seeds, Period: cutPeriod, Timeout: cutTimeout, Observer: d,
		Advertise: r.socket.Addr().String()}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	socket, err := cfg.open()
	if err != nil {
		t.Fatal(err)
	}
	r.target = socket.Addr().String()
	m, err := join(ctx, cfg, socket)
	if err != nil {
		r.refuse()
		return cutMember{nil, d, r}, err
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s: %v, view %d of %v", name, m.Err(), d.last().Number, d.last().Members)
		}
		m.Close()
	})
	w.members = append(w.members, cutMember{m, d, r})
	return cutMember{m, d, r}, nil
}

// die ends a member as if it were killed.
func (m cutMember) die() {
	m.r.refuse()
	m.Close()
}

// awaitEnd waits for a member's end.
func (m cutMember) awaitEnd(t *testing.T, want error) {
	t.Helper()
	select {
	case <-m.over:
		if !errors.Is(m.Err(), want) {
			t.Errorf("%s ended: %v, want: %v", m.card.Name, m.Err(), want)
		}
	case <-time.After(20 * time.Second):
		t.Errorf("%s goes on with view %d, want: %v", m.card.Name, m.last().Number, want)
	}
}

// awaitStreams waits until so many others have a stream to a member.
func (m cutMember) awaitStreams(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		heard := make(chan int, 1)
		m.post(func() {
			n := 0
			for _, s := range m.streams {
				if s.heard {
					n++
				}
			}
			heard <- n
		})
		select {
		case got := <-heard:
			if got == n {
				return
			}
		case <-m.over:
			t.Fatalf("%s ended: %v", m.card.Name, m.Err())
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s doesn't hear %d others", m.card.Name, n)
		}
	}
}

// agree checks that there is one view of each number.
func agree(t *testing.T, all []cutMember) {
	t.Helper()
	views := map[uint64]*membership.View{}
	for _, m := range all {
		m.viewLog.mu.Lock()
		for i, v := range m.views {
			if i > 0 && v.Number != m.views[i-1].Number+1 {
				t.Errorf("%s has view %d after view %d", m.r.name, v.Number, m.views[i-1].Number)
			}
			if w := views[v.Number]; w == nil {
				views[v.Number] = v
			} else if !slices.Equal(v.Members, w.Members) {
				t.Errorf("%s has view %d of %v, another one of %v", m.r.name, v.Number, v.Members, w.Members)
			}
		}
		m.viewLog.mu.Unlock()
	}
}

// One of the two sides of a cut goes on: the larger one, or, if they are equal, the one with the
// most senior member. The other one stops, even if the network heals before that side has found
// out.
func TestCut(t *testing.T) {
	t.Parallel()
	type setting struct {
		others string // the members beside a, from b on
		away   []string
		early  bool // the network heals as soon as the majority has its view
	}
	settings := []setting{
		{"bcde", []string{"d", "e"}, false},
		{"bcde", []string{"a", "b"}, false},
		{"bcd", []string{"a", "d"}, false},
		{"b", []string{"a"}, false},
		{"bcde", []string{"a", "c"}, true},
	}
	if testing.Short() {
		settings = settings[2:]
	}
	for _, tc := range settings {
		t.Run(fmt.Sprintf("%v of a%s early=%v", tc.away, tc.others, tc.early), func(t *testing.T) {
			t.Parallel()
			w := newCutNetwork(t)
			all := []cutMember{w.join(t, "a")}
			for _, c := range tc.others {
				all = append(all, w.join(t, string(c), all[0].card.Address))
			}
			n := len(all)
			for _, m := range all {
				m.await(t, n)
			}
			goesOn := func(m cutMember) bool {
				with := !slices.Contains(tc.away, m.card.Name)
				if more := 2*len(tc.away) - n; more > 0 || more == 0 && slices.Contains(tc.away, "a") {
					with = !with
				}
				return with
			}
			w.split(tc.away)
			for _, m := range all {
				if goesOn(m) {
					m.await(t, max(n-len(tc.away), len(tc.away)))
				}
			}
			if tc.early {
				w.split()
			}
			for _, m := range all {
				switch {
				case goesOn(m):
				case tc.early:
					select {
					case <-m.over:
					case <-time.After(20 * time.Second):
						t.Errorf("%s goes on", m.card.Name)
					}
				default:
					m.awaitEnd(t, ErrMinority)
				}
			}
			w.split()
			agree(t, all)
			for _, m := range all {
				if goesOn(m) && m.Err() != nil {
					t.Errorf("%s ended: %v", m.card.Name, m.Err())
				}
			}
		})
	}
}

// The members that exclude one beyond a cut let a new member in, and die. When the network heals,
// nobody listens at any address that the excluded member knows. But it mustn't go on alone: the
// new member does already. It is told so; if nothing of the dead is left in the network, it must
// assume so.
func TestDeadBehindCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		lost bool
		want error
	}{{false, ErrExcluded}, {true, ErrMinority}} {
		t.Run(fmt.Sprint("lost=", tc.lost), func(t *testing.T) {
			t.Parallel()
			w := newCutNetwork(t)
			a := w.join(t, "a")
			seed := a.card.Address
			all := []cutMember{a, w.join(t, "b", seed), w.join(t, "c", seed), w.join(t, "d", seed)}
			for _, m := range all {
				m.await(t, 4)
			}
			d := all[3]
			w.split([]string{"d"})
			for _, m := range all[:3] {
				m.await(t, 3)
			}
			x := w.join(t, "x", seed)
			for _, m := range all[:3] {
				m.await(t, 4)
			}
			x.awaitStreams(t, 3)
			for _, m := range all[:3] {
				m.die()
			}
			x.await(t, 1)
			for _, m := range all[:3] {
				if tc.lost {
					w.lose(m.r.name)
				}
			}
			w.split()
			d.awaitEnd(t, tc.want)
			if x.Err() != nil {
				t.Error(x.Err())
			}
			agree(t, append(all, x))
		})
	}
}

var cuts = flag.Int("cuts", 2, "how many random sequences with cuts")

// In random sequences of cuts, deaths and joins no number has two views, and all members that are
// left when the network is whole have the same view.
func TestRandomCuts(t *testing.T) {
	t.Parallel()
	n := *cuts
	if testing.Short() {
		n = min(n, 1)
	}
	for seed := range uint64(n) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 9))
			w := newCutNetwork(t)
			all := []cutMember{w.join(t, "a")}
			var outside []cutMember // weren't let in, or not in time
			enter := func(name string, limit time.Duration) {
				var seeds []string
				for _, m := range all {
					seeds = append(seeds, m.card.Address)
				}
				r.Shuffle(len(seeds), func(i, j int) { seeds[i], seeds[j] = seeds[j], seeds[i] })
				if m, err := w.try(t, name, limit, seeds...); err == nil {
					all = append(all, m)
				} else {
					outside = append(outside, m)
				}
			}
			for i := range 3 + r.IntN(3) {
				enter(string(rune('b'+i)), 10*time.Second)
			}
			for step := range 7 {
				switch r.IntN(5) {
				case 0, 1:
					var sides [2][]string
					for _, m := range all {
						if s := r.IntN(3); s > 0 {
							sides[s-1] = append(sides[s-1], m.r.name)
						}
					}
					w.split(sides[:]...)
				case 2:
					all[r.IntN(len(all))].die()
				case 3:
					w.split()
				case 4:
					enter(fmt.Sprint("x", step), 2*cutTimeout)
				}
				time.Sleep(time.Duration(r.IntN(int(2 * cutTimeout))))
			}
			w.split()
			// No process joins a group without a quorum; then all have ended.
			if live := slices.IndexFunc(all, func(m cutMember) bool { return m.Err() == nil }); live >= 0 {
				settled := func() bool {
					var last *membership.View
					count := 0
					for _, m := range all {
						if m.Err() != nil {
							continue
						}
						count++
						if v := m.last(); last != nil && v.Number != last.Number {
							return false
						} else {
							last = v
						}
					}
					return count == 0 || len(last.Members) == count
				}
				for deadline := time.Now().Add(20 * time.Second); !settled(); time.Sleep(5 * time.Millisecond) {
					if time.Now().After(deadline) {
						w.dump(t)
						t.Fatal("no agreement")
					}
				}
			}
			agree(t, append(all, outside...))
		})
	}
}
