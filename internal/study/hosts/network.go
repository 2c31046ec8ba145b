package hosts

import (
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// packet is what travels: a machine's message, or news that goes down a tree.
type packet struct {
	message *steward.Message
	news    *news
	from    int32 // of the receiver's part of the tree, in the news' list
	to      int32
}

// stage orders the events of one instant.
type stage uint8

const (
	received stage = iota // the host has received the packet
	begins                // its agent is there
	dies
	wakes
	arrived // the packet is at the host
)

type event struct {
	at     proto.Time
	order  uint64 // the stage and a number, of the events of an instant
	host   int32
	packet packet
}

// network is hosts that send each other packets in LogP time.
type network struct {
	latency, overhead proto.Time
	dead, there       []bool
	sendsAt           []proto.Time // when a host may begin its next send
	receivesAt        []proto.Time // and its next receive
	sent              []int32      // packets, by host
	queue             []event      // a heap
	sequence          uint64
}

func newNetwork(s *Settings, hosts int) *network {
	return &network{
		latency: s.Latency, overhead: s.Overhead, dead: make([]bool, hosts), there: make([]bool, hosts),
		sendsAt: make([]proto.Time, hosts), receivesAt: make([]proto.Time, hosts), sent: make([]int32, hosts),
	}
}

func (n *network) add(at proto.Time, stage stage, host int32, p packet) {
	n.sequence++
	n.push(event{at, uint64(stage)<<56 | n.sequence, host, p})
}

// send schedules a host's send after its earlier ones. What it sends itself costs nothing.
func (n *network) send(now proto.Time, from, to int32, p packet) {
	if from == to {
		n.add(now, received, to, p)
		return
	}
	n.sent[from]++
	begin := max(now, n.sendsAt[from])
	n.sendsAt[from] = begin + n.overhead
	n.add(begin+n.overhead+n.latency, arrived, to, p)
}

// next is the next event that happens at a host, false if none does until a time.
func (n *network) next(until proto.Time) (event, bool) {
	for len(n.queue) > 0 && n.queue[0].at <= until {
		e := n.pop()
		s := stage(e.order >> 56)
		if n.dead[e.host] || !n.there[e.host] && s != begins {
			continue
		}
		if s == arrived {
			end := max(e.at, n.receivesAt[e.host]) + n.overhead
			n.receivesAt[e.host] = end
			n.add(end, received, e.host, e.packet)
			continue
		}
		return e, true
	}
	return event{}, false
}

func before(a, b *event) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

func (n *network) push(e event) {
	n.queue = append(n.queue, e)
	h := n.queue
	for i := len(h) - 1; i > 0 && before(&h[i], &h[(i-1)/2]); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (n *network) pop() event {
	h := n.queue
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], event{}
	h = h[:last]
	n.queue = h
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && before(&h[child+1], &h[child]) {
			child++
		}
		if child >= last || !before(&h[child], &h[i]) {
			return top
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
