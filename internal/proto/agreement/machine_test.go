package agreement

import (
	"slices"
	"testing"

	"banyan/internal/topology"
)

// settleAll delivers messages in the order of their sending until none is under way, and returns
// what each member decides.
func settleAll(machines []*Machine, dead Set, begin func(p int, out *Actions)) [][]Value {
	type packet struct {
		from, to int
		Message
	}
	var queue []packet
	decisions := make([][]Value, len(machines))
	act := func(p int, out Actions) {
		for _, a := range out {
			a.Message.Value.Payload = slices.Clone(a.Message.Value.Payload)
			switch a.Kind {
			case Send:
				queue = append(queue, packet{p, a.To, a.Message})
			case Decide:
				decisions[p] = append(decisions[p], a.Message.Value)
			}
		}
	}
	for p := range machines {
		if !dead.Has(p) {
			var out Actions
			begin(p, &out)
			act(p, out)
		}
	}
	for i := 0; i < len(queue); i++ {
		if x := queue[i]; !dead.Has(x.to) {
			var out Actions
			machines[x.to].Receive(x.from, x.Message, &out)
			act(x.to, out)
		}
	}
	return decisions
}

// TestOrder: payloads are put together in the order of members, whichever are dead, where the tree
// is numbered in-order.
func TestOrder(t *testing.T) {
	const n = 13
	three := must(topology.KAry(n, 3, topology.InOrder))
	for name, tree := range map[string]topology.Tree{"binomial": binomial(n), "star": star(n), "chain": chain(n), "kary": three} {
		for _, dead := range []Set{nil, {0b1}, {0b1_0000_0001}, {0b100_0110}, {0b1_0000_0001_1111}} {
			machines := make([]*Machine, n)
			want := ""
			for p := range machines {
				machines[p] = New(Config{Self: p, Tree: tree, Combine: func(_ uint64, into, from []byte) []byte { return append(into, from...) }})
				if !dead.Has(p) {
					want += string(rune('a' + p))
				}
			}
			decisions := settleAll(machines, dead, func(p int, out *Actions) {
				for _, d := range dead.AppendMembers(nil) {
					machines[p].Dead(d, out)
				}
				machines[p].Contribute(Contribution{Payload: []byte{byte('a' + p)}}, out)
			})
			for p := range decisions {
				if dead.Has(p) {
					continue
				}
				if len(decisions[p]) != 1 || string(decisions[p][0].Payload) != want {
					t.Fatalf("%s without %b: member %d has %+v, want %s", name, dead, p, decisions[p], want)
				}
			}
		}
	}
}

// TestErrors: what MPI's agree returns is the same at all: a death that one contributor hasn't
// acknowledged makes it an error everywhere.
func TestErrors(t *testing.T) {
	const n = 5
	dead := Set{0b10010}
	for _, careless := range []int{-1, 0, 3} {
		machines := make([]*Machine, n)
		for p := range machines {
			machines[p] = New(Config{Self: p, Tree: binomial(n)})
		}
		decisions := settleAll(machines, dead, func(p int, out *Actions) {
			machines[p].Dead(1, out)
			machines[p].Dead(4, out)
			c := Contribution{Flags: ^uint64(0) &^ (1 << p), Acknowledged: dead}
			if p == careless {
				c.Acknowledged = Set{0b10}
			}
			machines[p].Contribute(c, out)
		})
		for _, p := range []int{0, 2, 3} {
			v := decisions[p][0]
			want := Set(nil)
			if careless >= 0 {
				want = Set{0b10000}
			}
			if v.Flags != ^uint64(0b1101) || !v.Missing.Equal(dead) || !v.Failed.Equal(dead) || !v.Unacknowledged().Equal(want) {
				t.Errorf("careless %d: member %d has %+v", careless, p, v)
			}
		}
	}
}

// TestWaiting: a member names the children that haven't reported, or else its parent.
func TestWaiting(t *testing.T) {
	var out Actions
	root := New(Config{Self: 0, Tree: star(4)})
	if list := root.Waiting(nil); len(list) > 0 {
		t.Errorf("it waits for %v before it has entered", list)
	}
	root.Contribute(Contribution{}, &out)
	root.Receive(2, Message{Kind: KindContribution, Number: 1}, &out)
	if list := root.Waiting(nil); !slices.Equal(list, []int{1, 3}) {
		t.Errorf("the root waits for %v", list)
	}
	leaf := New(Config{Self: 2, Tree: star(4)})
	leaf.Contribute(Contribution{}, &out)
	if list := leaf.Waiting(nil); !slices.Equal(list, []int{0}) {
		t.Errorf("a leaf waits for %v", list)
	}
}

func TestMaxInFlight(t *testing.T) {
	m := New(Config{Self: 1, Tree: star(2)})
	for range MaxInFlight {
		var out Actions
		if m.Contribute(Contribution{}, &out) == 0 {
			t.Fatal("refused early")
		}
	}
	var out Actions
	if n := m.Contribute(Contribution{}, &out); n != 0 || len(out) > 0 {
		t.Errorf("number %d, %v", n, out)
	}
}
