package loggp

import "banyan/internal/proto"

// batch is how many frames a worker brings to their ports at a time: their ports are fetched
// together.
const batch = 128

// ahead is how many nodes act between two stages of a node's Fetch.
const ahead = 3

func (w *worker[B]) windowOf(node int32) int64 { return w.network.ports[node].window }

// act takes what the other workers have sent to this one's nodes in the window before, and has the
// nodes act that are due in the present one.
func (w *worker[B]) act() {
	n := w.network
	w.earliest = proto.Never
	list := w.agenda.enter(n.window, w.windowOf)
	for _, other := range n.workers {
		out := &other.out[(n.turn+1)&1][w.number]
		list = w.deliver(out.frames, n.window, list)
		out.frames = out.frames[:0]
	}
	end := proto.Time(n.window+1) * n.model.Latency
	for i, node := range list {
		if n.fetchers != nil {
			w.fetch(list, i)
		}
		p := &n.ports[node]
		if p.window != n.window {
			continue // put off, or it has acted
		}
		p.window = noWindow
		switch wake := n.nodes[node].Act(p, end); {
		case wake == proto.Never:
		case wake < end:
			panic("loggp: a node that leaves undone what it had time for")
		default:
			w.call(p, int64(wake/n.model.Latency))
		}
		if len(w.own) >= batch {
			w.deliverOwn()
		}
	}
	w.deliverOwn()
	w.agenda.done(list)
}

// fetch has nodes fetched that act after the i-th of a list.
func (w *worker[B]) fetch(list []int32, i int) {
	n := w.network
	if next := i + ahead*(FetchStages+1); next < len(list) {
		n.ports[list[next]].fetch()
	}
	if i == 0 { // the first ones, which nothing has been fetched for
		for j := range min(len(list), ahead*(FetchStages+1)) {
			n.ports[list[j]].fetch()
		}
		for stage := range FetchStages {
			for j := range min(len(list), ahead*(FetchStages-stage)) {
				w.fetchNode(list[j], stage)
			}
		}
		return
	}
	for stage := range FetchStages {
		if next := i + ahead*(FetchStages-stage); next < len(list) {
			w.fetchNode(list[next], stage)
		}
	}
}

func (w *worker[B]) fetchNode(node int32, stage int) {
	p := &w.network.ports[node]
	if p.window != w.network.window {
		return
	}
	if stage == 0 {
		p.inbox.fetch()
	}
	w.network.fetchers[node].Fetch(stage)
}

// call has a node act in a window, unless it does so before.
func (w *worker[B]) call(p *Port[B], window int64) {
	if window < p.window {
		p.window = window
		w.agenda.file(int32(p.self), window)
	}
}

// send takes a frame for the receiver's worker. This worker's own nodes have it between two acts.
func (w *worker[B]) send(f *Frame[B]) {
	w.frames++
	if f.At < proto.Time(w.network.window+1)*w.network.model.Latency {
		panic("loggp: a node acts in the past, or a frame is posted for too soon")
	}
	if int32(f.To) >= w.first && int32(f.To) < w.end {
		w.own = append(w.own, *f)
		return
	}
	to := w.network.workerOf(int32(f.To))
	out := &w.out[w.network.turn&1][to]
	out.frames = append(out.frames, *f)
	w.earliest = min(w.earliest, f.At)
}

func (w *worker[B]) deliverOwn() {
	w.deliver(w.own, w.network.window+1, nil)
	w.own = w.own[:0]
}

// deliver brings frames to their receivers' ports, and has those act when the frames are there, if
// they care, from a window on. Those that act in the present one it appends to a list.
func (w *worker[B]) deliver(frames []Frame[B], first int64, list []int32) []int32 {
	n := w.network
	for len(frames) > 0 {
		some := frames[:min(len(frames), batch)]
		frames = frames[len(some):]
		if n.fetchers != nil {
			for i := range some {
				n.ports[some[i].To].fetch()
			}
			for i := range some {
				n.ports[some[i].To].fetchRoom()
			}
		}
		for i := range some {
			p := &n.ports[some[i].To]
			wakes, at := p.insert(&some[i])
			if !wakes {
				continue
			}
			window := max(first, int64(at/n.model.Latency))
			if window == n.window { // just entered
				p.window = window
				list = append(list, int32(p.self))
				continue
			}
			w.call(p, window)
		}
	}
	return list
}
