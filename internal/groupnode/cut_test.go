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

// wall is a network that can be cut. Every member is reached through a relay of its own, which
// reads from the hello who dials. What can't pass waits, also the end of a stream, as
// in a network that loses packets until it is mended.
type wall struct {
	mu      sync.Mutex
	change  *sync.Cond
	side    map[string]int  // by name; members of different sides don't hear each other
	lost    map[string]bool // who has no past: what it has sent doesn't arrive, and its connections break
	closed  bool
	running sync.WaitGroup
	members []walled
}

func newWall(t *testing.T) *wall {
	w := &wall{side: map[string]int{}, lost: map[string]bool{}}
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

// split sets the sides: those named to 1, and to 2, and so on, all others to 0.
func (w *wall) split(sides ...[]string) {
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

// pass waits until one hears the other, and says whether it is worth it.
func (w *wall) pass(from, to string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed && w.side[from] != w.side[to] {
		w.change.Wait()
	}
	return !w.closed
}

// lose lets go of what a host had sent, as if it had been started anew.
func (w *wall) lose(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost[name] = true
}

func (w *wall) hasLost(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost[name]
}

// relay passes on what comes for a member.
type relay struct {
	w      *wall
	target string // where the member listens, set before it tells anybody of the relay
	name   string
	socket net.Listener
	mu     sync.Mutex
	conns  []net.Conn
}

func (w *wall) relay(t *testing.T, name string) *relay {
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

// refuse has nobody listen any more, as when the member has ended.
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

// carry passes on what comes in one direction.
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

// walled is a member behind the wall.
type walled struct {
	*Member
	*diary
	r *relay
}

const (
	cutPeriod  = 15 * time.Millisecond
	cutTimeout = 350 * time.Millisecond
)

func (w *wall) join(t *testing.T, name string, seeds ...string) walled {
	t.Helper()
	m, err := w.try(t, name, 10*time.Second, seeds...)
	if err != nil {
		w.dump(t)
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// dump logs what has become of the members.
func (w *wall) dump(t *testing.T) {
	for _, m := range w.members {
		t.Logf("%s: %v, view %d of %v", m.r.name, m.Err(), m.last().Number, m.last().Members)
	}
}

// try is join for one who may not be let in.
func (w *wall) try(t *testing.T, name string, limit time.Duration, seeds ...string) (walled, error) {
	t.Helper()
	r := w.relay(t, name)
	d := newDiary()
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
		return walled{nil, d, r}, err
	}
	t.Cleanup(m.Close)
	w.members = append(w.members, walled{m, d, r})
	return walled{m, d, r}, nil
}

// die ends a member as if it were killed.
func (m walled) die() {
	m.r.refuse()
	m.Close()
}

// awaitEnd waits for a member's end.
func (m walled) awaitEnd(t *testing.T, want error) {
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

// hear waits until so many others have a stream to a member.
func (m walled) hear(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		heard := make(chan int, 1)
		m.post(func() {
			n := 0
			for _, s := range m.streams {
				if s.said {
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
func agree(t *testing.T, all []walled) {
	t.Helper()
	views := map[uint64]*membership.View{}
	for _, m := range all {
		m.diary.mu.Lock()
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
		m.diary.mu.Unlock()
	}
}

// Of two sides of a cut one goes on: the larger one, or of equal ones that with the most
// senior member. The other one stops, also if the network is mended before it has found out.
func TestCut(t *testing.T) {
	t.Parallel()
	type setting struct {
		others string // than a, all from b on
		away   []string
		early  bool // mended when the majority has its view
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
			w := newWall(t)
			all := []walled{w.join(t, "a")}
			for _, c := range tc.others {
				all = append(all, w.join(t, string(c), all[0].card.Address))
			}
			n := len(all)
			for _, m := range all {
				m.await(t, n)
			}
			goesOn := func(m walled) bool {
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

// Those who exclude somebody beyond a cut let another one in, and die. When the network is mended
// the excluded one finds nobody listening at the addresses of all the others it knows. But
// it mustn't go on alone: the new one does already. It is told so, or, if nothing of the dead
// is left in the network, knows that it can't know.
func TestDeadBehindCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		lost bool
		want error
	}{{false, ErrExcluded}, {true, ErrMinority}} {
		t.Run(fmt.Sprint("lost=", tc.lost), func(t *testing.T) {
			t.Parallel()
			w := newWall(t)
			a := w.join(t, "a")
			seed := a.card.Address
			all := []walled{a, w.join(t, "b", seed), w.join(t, "c", seed), w.join(t, "d", seed)}
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
			x.hear(t, 3)
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

// Random cuts, deaths and joins: there is never a second view of a number, and of those who are left
// when the network is whole all have the same.
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
			w := newWall(t)
			all := []walled{w.join(t, "a")}
			var outside []walled // who wasn't let in, or not in time
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
			// Nobody joins a group without a quorum; then it is over for all.
			if live := slices.IndexFunc(all, func(m walled) bool { return m.Err() == nil }); live >= 0 {
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
