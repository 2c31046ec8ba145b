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

// Network connects nodes, which it drives.
type Network[B Body] struct {
	model   Model
	nodes   []Node[B]
	ports   []Port[B]
	windows []int64 // by node: in which it acts next; none: noWindow
	workers []*worker[B]
	window  int64 // the present one
	turn    int   // windows so far
}

// worker drives a part of the nodes, first ≤ node < end.
type worker[B Body] struct {
	network    *Network[B]
	number     int
	first, end int32
	agenda     agenda
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

// New connects nodes, numbered as their processes. Each of them acts first at time 0. workers is
// how many cores are used.
func New[B Body](model Model, nodes []Node[B], workers int) *Network[B] {
	n := &Network[B]{model: model, nodes: nodes, ports: make([]Port[B], len(nodes)), windows: make([]int64, len(nodes)), window: -1}
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

func (w *worker[B]) windowOf(node int32) int64 { return w.network.windows[node] }

// act takes what the other workers have sent to this one's nodes in the window before, and has the
// nodes act that are due in the present one.
func (w *worker[B]) act() {
	n := w.network
	w.earliest = proto.Never
	list := w.agenda.enter(n.window, w.windowOf)
	for _, other := range n.workers {
		out := &other.out[(n.turn+1)&1][w.number]
		for i := range out.frames {
			f := &out.frames[i]
			if w.insert(f, n.window) == n.window {
				list = append(list, int32(f.To))
			}
		}
		out.frames = out.frames[:0]
	}
	end := proto.Time(n.window+1) * n.model.Latency
	for _, node := range list {
		if n.windows[node] != n.window {
			continue // put off, or it has acted
		}
		n.windows[node] = noWindow
		switch wake := n.nodes[node].Act(&n.ports[node], end); {
		case wake == proto.Never:
		case wake < end:
			panic("loggp: a node that leaves undone what it had time for")
		default:
			w.call(node, int64(wake/n.model.Latency))
		}
	}
	w.agenda.done(list)
}

// call has a node act in a window, unless it does so before.
func (w *worker[B]) call(node int32, window int64) {
	if next := &w.network.windows[node]; window < *next {
		*next = window
		w.agenda.file(node, window)
	}
}

// send brings a frame to the receiver's worker.
func (w *worker[B]) send(f *Frame[B]) {
	w.frames++
	if f.At < proto.Time(w.network.window+1)*w.network.model.Latency {
		panic("loggp: a node acts in the past, or a frame is posted for too soon")
	}
	if int32(f.To) >= w.first && int32(f.To) < w.end {
		w.insert(f, w.network.window+1)
		return
	}
	to := w.network.workerOf(int32(f.To))
	out := &w.out[w.network.turn&1][to]
	out.frames = append(out.frames, *f)
	w.earliest = min(w.earliest, f.At)
}

// insert brings a frame to its receiver's port, has that act when the frame is there, if it cares,
// and returns the window of that, from the first on that it may still act in.
func (w *worker[B]) insert(f *Frame[B], first int64) (window int64) {
	wakes, at := w.network.ports[f.To].insert(f)
	if !wakes {
		return noWindow
	}
	window = max(first, int64(at/w.network.model.Latency))
	if window == w.network.window { // just entered: the caller appends the node to its list
		w.network.windows[f.To] = window
		return window
	}
	w.call(int32(f.To), window)
	return window
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
