package groupnode

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"banyan/internal/proto/membership"
)

// Whichever member is gone, each finds its parent and its children among its neighbours, and they
// find it among theirs. Neighbours are few.
func TestNeighbours(t *testing.T) {
	for _, arity := range []int{2, 4, 8} {
		for n := 1; n <= 60; n++ {
			near := make([][]int, n)
			for p := range n {
				near[p] = neighbours(p, n, arity)
				if len(near[p]) > 2*arity+2 || slices.Contains(near[p], p) || slices.Max(append(near[p], 0)) >= n {
					t.Fatalf("%d of %d, arity %d: %v", p, n, arity, near[p])
				}
			}
			for dead := -1; dead < n; dead++ {
				var left []int
				for p := range n {
					if p != dead {
						left = append(left, p)
					}
				}
				for i, p := range left[min(1, len(left)):] {
					parent := left[i/arity] // p is at i+1
					if !slices.Contains(near[p], parent) || !slices.Contains(near[parent], p) {
						t.Fatalf("%d of %d is gone, arity %d: %d has the parent %d, and is connected with %v, that one with %v", dead, n, arity, p, parent, near[p], near[parent])
					}
				}
			}
		}
	}
}

// connectedTo are the members to which a member has made connections.
func connectedTo(m *Member) []membership.Member {
	reply := make(chan []membership.Member, 1)
	m.post(func() {
		var all []membership.Member
		for who := range m.links {
			all = append(all, who)
		}
		reply <- all
	})
	return <-reply
}

func view(m *Member) *membership.View {
	reply := make(chan *membership.View, 1)
	m.post(func() { reply <- m.machine.View() })
	return <-reply
}

// After a death no member sends to one that it isn't connected with: the tree's connections are
// there, and no detector spreads what the next view says.
func TestReady(t *testing.T) {
	const n = 20
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all []*Member
	for i := range n {
		cfg := Config{Name: fmt.Sprint("m", i), Secret: []byte("a secret of the test"), Period: time.Second, Timeout: 20 * time.Second}
		if i > 0 {
			cfg.Seeds = []string{all[0].Card().Address}
		}
		m, err := Join(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		all = append(all, m)
	}
	// Wait until all have the view and all their connections.
	await := func(what string, met func() bool) {
		t.Helper()
		for !met() {
			if time.Sleep(10 * time.Millisecond); ctx.Err() != nil {
				t.Fatalf("never: %s", what)
			}
		}
	}
	agreed := func(members int) func() bool {
		return func() bool {
			return !slices.ContainsFunc(all, func(m *Member) bool { return len(view(m).Members) != members })
		}
	}
	await("a view of all", agreed(n))
	await("connections", func() bool {
		v := view(all[0])
		return !slices.ContainsFunc(all, func(m *Member) bool {
			to := connectedTo(m)
			if len(to) == 0 || m.Number() != v.Members[fewWitnesses] && !slices.Contains(to, v.Members[fewWitnesses]) {
				return true
			}
			return slices.ContainsFunc(neighbours(slices.Index(v.Members, m.Number()), n, 2), func(p int) bool { return !slices.Contains(to, v.Members[p]) })
		})
	})
	before := map[*Member][]membership.Member{}
	for _, m := range all {
		before[m] = connectedTo(m)
	}
	dead := all[3]
	all = slices.Delete(all, 3, 4)
	// Members that are busy with a change don't make connections for the next one yet.
	began := time.Now()
	dead.Close()
	await("a view without the dead", agreed(n-1))
	after := map[*Member][]membership.Member{}
	for _, m := range all {
		after[m] = connectedTo(m)
	}
	if time.Since(began) > readyAfter { // some may make connections for the next change already
		t.Skip("this machine is too busy to tell")
	}
	for _, m := range all {
		for _, to := range after[m] {
			if !slices.Contains(before[m], to) {
				t.Errorf("%v has made a connection to %v", m.Number(), to)
			}
		}
	}
}
