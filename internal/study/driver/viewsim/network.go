package viewsim

import "banyan/internal/proto"

// player is the processes, which handle the events. M is what messages carry.
type player[M any] interface {
	receive(now proto.Time, p, from proto.Proc, x M)
	told(now proto.Time, p, dead proto.Proc)
	wake(now proto.Time, p proto.Proc)
}

// network is processes that send each other messages in LogP time.
type network[M any] struct {
	latency, overhead proto.Time
	hops              func(from, to proto.Proc) int // nil: always 1

	dies       []proto.Time // of each process, or Never
	sendsAt    []proto.Time // when it may begin its next send
	receivesAt []proto.Time // and its next receive
	queue      events[M]
	sequence   uint64
}

// stage orders the events of one instant.
type stage uint8

const (
	received stage = iota // proc has received x from other
	tell                  // the detector informs proc that other is dead
	wakes                 // proc has a deadline
	arrived               // x of other is at proc
)

type event[M any] struct {
	at          proto.Time
	order       uint64 // the stage and a number, of the events of an instant
	proc, other proto.Proc
	x           M
}

func newNetwork[M any](s *Settings, processes int, deaths []death) *network[M] {
	n := &network[M]{
		latency: s.Latency, overhead: s.Overhead, hops: s.Hops,
		dies: make([]proto.Time, processes), sendsAt: make([]proto.Time, processes), receivesAt: make([]proto.Time, processes),
	}
	for p := range n.dies {
		n.dies[p] = proto.Never
	}
	for _, d := range deaths {
		n.dies[d.node] = d.at
	}
	return n
}

func (n *network[M]) add(at proto.Time, stage stage, proc, other proto.Proc, x M) {
	n.sequence++
	n.queue.push(event[M]{at, uint64(stage)<<56 | n.sequence, proc, other, x})
}

// send schedules a process's send after its earlier ones. It says whether the process lives until
// then.
func (n *network[M]) send(now proto.Time, from, to proto.Proc, x M) bool {
	begin := max(now, n.sendsAt[from])
	if begin >= n.dies[from] {
		return false
	}
	n.sendsAt[from] = begin + n.overhead
	n.add(begin+n.overhead+n.travel(from, to), arrived, to, from, x)
	return true
}

// travel is how long a message is under way.
func (n *network[M]) travel(from, to proto.Proc) proto.Time {
	if n.hops == nil {
		return n.latency
	}
	return n.latency + proto.Time(n.hops(from, to)-1)*(n.latency+2*n.overhead)
}

// wakeAt has a process woken.
func (n *network[M]) wakeAt(at proto.Time, p proto.Proc) {
	var none M
	n.add(at, wakes, p, proto.NoProc, none)
}

// compute keeps a process from sending for so long.
func (n *network[M]) compute(now proto.Time, p proto.Proc, span proto.Time) {
	n.sendsAt[p] = max(now, n.sendsAt[p]) + span
}

// run plays until nothing is left to happen.
func (n *network[M]) run(p player[M]) {
	for len(n.queue) > 0 {
		e := n.queue.pop()
		if e.at >= n.dies[e.proc] {
			continue
		}
		switch stage(e.order >> 56) {
		case arrived:
			end := max(e.at, n.receivesAt[e.proc]) + n.overhead
			n.receivesAt[e.proc] = end
			n.add(end, received, e.proc, e.other, e.x)
		case received:
			p.receive(e.at, e.proc, e.other, e.x)
		case tell:
			p.told(e.at, e.proc, e.other)
		case wakes:
			p.wake(e.at, e.proc)
		}
	}
}

// events is a heap, the first to happen at its top.
type events[M any] []event[M]

func (q events[M]) before(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}

func (q *events[M]) push(e event[M]) {
	*q = append(*q, e)
	h := *q
	for i := len(h) - 1; i > 0 && h.before(i, (i-1)/2); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (q *events[M]) pop() event[M] {
	h := *q
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], event[M]{}
	h = h[:last]
	*q = h
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && h.before(child+1, child) {
			child++
		}
		if child >= last || !h.before(child, i) {
			return top
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
