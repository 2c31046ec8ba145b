package loggp

import (
	"context"
	"sync"

	"banyan/internal/proto"
)

// Node is a process of a Network.
type Node[B Body] interface {
	// Act has the node do all that it does before end, and returns when it acts next if no other
	// frame comes, at end or later; Never if only another frame can wake it. It takes the frames
	// that it handles from the port: those with a time before end.
	Act(p *Port[B], end proto.Time) (wake proto.Time)
}

// Fetcher is a Node that has its memory fetched before it acts. Of many nodes none is in a cache.
type Fetcher interface {
	// Fetch asks for memory (package prefetch) and changes nothing. It is called before Act with
	// stage 0, and then with 1 … FetchStages-1, when what the stage before asked for has come: so a
	// stage may follow pointers which the one before fetched. Other nodes act in between.
	Fetch(stage int)
}

// FetchStages is how many stages there are.
const FetchStages = 5

// Network connects nodes, which it drives.
type Network[B Body] struct {
	model    Model
	nodes    []Node[B]
	fetchers []Fetcher // by node; nil if there are few, or they don't fetch
	ports    []Port[B]
	workers  []*worker[B]
	window   int64 // the present one
	turn     int   // windows so far
}

// worker drives a part of the nodes, first ≤ node < end.
type worker[B Body] struct {
	network    *Network[B]
	number     int
	first, end int32
	agenda     agenda
	own        []Frame[B] // for this worker's nodes: not in their ports yet
	// out are the frames for other workers, by worker: those of the present window, which it
	// fills, and those of the one before, which the others take. They change places every turn.
	out      [2][]outbox[B]
	earliest proto.Time    // of the frames sent to other workers in the present window
	frames   int64         // sent
	begin    chan struct{} // of a window
}

type outbox[B Body] struct{ frames []Frame[B] }

// alone is how many nodes a window needs before several workers share it: waking them takes as
// long as some nodes act.
const alone = 64

// crowd is so many nodes that a core's own cache doesn't hold them.
const crowd = 256

// fetchersOf are the nodes as Fetchers, or nil if not all of them are.
func fetchersOf[B Body](nodes []Node[B]) []Fetcher {
	list := make([]Fetcher, len(nodes))
	for i, n := range nodes {
		f, ok := n.(Fetcher)
		if !ok {
			return nil
		}
		list[i] = f
	}
	return list
}

// New connects nodes, numbered as their processes. Each of them acts first at time 0. workers is
// how many cores are used.
func New[B Body](model Model, nodes []Node[B], workers int) *Network[B] {
	n := &Network[B]{model: model, nodes: nodes, ports: make([]Port[B], len(nodes)), window: -1}
	if len(nodes) >= crowd {
		n.fetchers = fetchersOf(nodes)
	}
	workers = max(1, min(workers, len(nodes)/alone))
	for i := range workers {
		w := &worker[B]{
			network: n, number: i, first: int32(len(nodes) * i / workers), end: int32(len(nodes) * (i + 1) / workers),
			earliest: proto.Never, begin: make(chan struct{}),
		}
		w.agenda.window, w.agenda.soonest = -1, noWindow
		w.out[0], w.out[1] = make([]outbox[B], workers), make([]outbox[B], workers)
		n.workers = append(n.workers, w)
		for node := w.first; node < w.end; node++ {
			n.ports[node] = Port[B]{self: proto.Proc(node), owner: w}
			w.agenda.file(node, 0)
		}
	}
	return n
}

// Run drives the nodes until none of them will act again, or the context ends. progress, if not
// nil, is told the time now and then, and how many frames have been sent.
func (n *Network[B]) Run(ctx context.Context, progress func(now proto.Time, frames int64)) error {
	var busy sync.WaitGroup
	for _, w := range n.workers[1:] {
		go func() {
			for range w.begin {
				w.act()
				busy.Done()
			}
		}()
	}
	defer func() {
		for _, w := range n.workers[1:] {
			close(w.begin)
		}
	}()
	for ; ; n.turn++ {
		if n.turn%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(proto.Time(n.window)*n.model.Latency, n.frames())
			}
		}
		next, load := n.next()
		if next == noWindow {
			return nil
		}
		n.window = next
		if load < alone || len(n.workers) == 1 {
			for _, w := range n.workers {
				w.act()
			}
			continue
		}
		busy.Add(len(n.workers) - 1)
		for _, w := range n.workers[1:] {
			w.begin <- struct{}{}
		}
		n.workers[0].act()
		busy.Wait()
	}
}

// next is the next window in which something happens, and about how many nodes act then.
func (n *Network[B]) next() (window int64, load int) {
	window = noWindow
	for _, w := range n.workers {
		window = min(window, w.agenda.next())
		if w.earliest != proto.Never {
			window = min(window, int64(w.earliest/n.model.Latency))
		}
	}
	for _, w := range n.workers {
		load += len(*w.agenda.at(window))
		for i := range w.out[(n.turn+1)&1] {
			load += len(w.out[(n.turn+1)&1][i].frames)
		}
	}
	return window, load
}

func (n *Network[B]) frames() (sum int64) {
	for _, w := range n.workers {
		sum += w.frames
	}
	return sum
}

// workerOf is the number of the worker of a node.
func (n *Network[B]) workerOf(node int32) int {
	i := int(int64(node) * int64(len(n.workers)) / int64(len(n.nodes)))
	for node < n.workers[i].first {
		i--
	}
	for node >= n.workers[i].end {
		i++
	}
	return i
}
