package membership

import (
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/study/driver/viewsim"
	"banyan/internal/study/planning/viewtime"
)

// TestTorus: a job of up to 512 nodes has a midplane of 8×8×8 for itself. By hand from the
// equation: 2·4.6 µs for each hop and 2 µs for each level.
func TestTorus(t *testing.T) {
	for _, x := range []struct {
		live, room, hops int
		distance         float64
	}{{511, 512, 53, 505.6}, {512, 1024, 71, 673.2}, {1023, 1024, 85, 802}} {
		torus := bluegene.torus(x.live)
		if torus.Nodes() != x.room || torus.Hops(x.live, 2) != x.hops || bluegene.distance(x.live, 2) != x.distance {
			t.Errorf("%d nodes: %v, %d hops, %.1f µs: want room for %d, %d hops, %.1f µs", x.live, torus, torus.Hops(x.live, 2), bluegene.distance(x.live, 2), x.room, x.hops, x.distance)
		}
	}
}

// TestTorusTimes: hops, sends and receives one after the other, and the place that the dead node
// leaves empty give the simulated time exactly, at every size of figures 4 and 5. So nothing else
// lengthens it.
func TestTorusTimes(t *testing.T) {
	for _, arity := range []int{2, 4} {
		for _, live := range torusSizes(midplanes - 1) {
			torus, alive := bluegene.torus(live), make([]bool, live+1)
			s := viewsim.Settings{
				Nodes: live + 1, Arity: arity, Fault: viewsim.Fault{Kind: viewsim.Node},
				Latency: bluegene.latency, Overhead: bluegene.overhead, Compute: bluegene.compute, Detection: 1e6,
				Hops: func(from, to proto.Proc) int {
					alive[from], alive[to] = true, true
					return torus.Distance(int(from), int(to))
				},
			}
			o, err := viewsim.Run(s, uint64(live))
			if err != nil {
				t.Fatal(err)
			}
			var places []int // of the tree's nodes in order
			for p, is := range alive {
				if is {
					places = append(places, p)
				}
			}
			if len(places) != live {
				t.Fatalf("%d of %d nodes sent anything", len(places), live)
			}
			w := walk{torus, places, arity}
			if got := w.agreed(0, 0); got != o.Stable {
				t.Errorf("%d nodes, %d children: %d ns, simulated %d", live, arity, got, o.Stable)
			}
		}
	}
}

// walk follows a proposal down a tree whose nodes are placed in a torus, and the acknowledgements
// up again.
type walk struct {
	torus  viewtime.Topology
	places []int
	arity  int
}

// agreed is when a node that has the proposal at a time has all acknowledgements of its subtree.
// A leaf has them when it has computed its view.
func (w *walk) agreed(node int, at proto.Time) proto.Time {
	p := &bluegene
	ready := at + p.compute
	var arrivals []proto.Time
	for k := range w.arity {
		child := w.arity*node + 1 + k
		if child >= len(w.places) {
			break
		}
		travel := p.latency + proto.Time(w.torus.Distance(w.places[node], w.places[child])-1)*p.halfRoundTrip()
		got := ready + proto.Time(k+1)*p.overhead + travel + p.overhead
		arrivals = append(arrivals, w.agreed(child, got)+p.overhead+travel)
	}
	slices.Sort(arrivals)
	for _, a := range arrivals {
		ready = max(ready, a) + p.overhead
	}
	return ready
}
