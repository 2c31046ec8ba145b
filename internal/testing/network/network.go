// Package network is what the simulated worlds of tests share: the messages under way between a
// few processes (Network), and what is to happen at which simulated time (Schedule).
//
// A Network keeps the order of the messages of each ordered pair of processes, as rule 5 of
// package proto demands, and nothing else. The test chooses which message arrives next, which
// are lost, and which processes die. A Clone takes one copy of a slice, because queues are
// shared until they change, so that explorers (package explore) can have a Network for each
// state.
package network

// Network is the messages under way between processes 0…n-1.
type Network[M any] struct {
	size   int
	queues [][]M // by from·size + to, oldest first
	shared bool  // with a clone: no queue's memory may be written over
}

// New makes a network without messages.
func New[M any](size int) Network[M] {
	return Network[M]{size: size, queues: make([][]M, size*size)}
}

// Clone is a copy that changes on its own. The messages themselves are shared.
func (n *Network[M]) Clone() Network[M] {
	n.shared = true
	queues := make([][]M, len(n.queues))
	copy(queues, n.queues)
	return Network[M]{n.size, queues, true}
}

func (n *Network[M]) queue(from, to int) *[]M { return &n.queues[from*n.size+to] }

// Queue is the messages under way from one process to another, oldest first. It mustn't be changed.
func (n *Network[M]) Queue(from, to int) []M { return *n.queue(from, to) }

// Send puts a message at the end of a queue.
func (n *Network[M]) Send(from, to int, m M) {
	q := n.queue(from, to)
	if n.shared {
		*q = (*q)[:len(*q):len(*q)]
	}
	*q = append(*q, m)
}

// Receive takes out the oldest message of a queue, which mustn't be empty.
func (n *Network[M]) Receive(from, to int) M {
	q := n.queue(from, to)
	m := (*q)[0]
	*q = (*q)[1:]
	return m
}

// Keep loses the messages of a queue but for the oldest, as many as count says.
func (n *Network[M]) Keep(from, to, count int) {
	q := n.queue(from, to)
	*q = (*q)[:count:count]
}

// Deafen loses what is under way to a process.
func (n *Network[M]) Deafen(to int) {
	for from := range n.size {
		*n.queue(from, to) = nil
	}
}

// Quiet says whether nothing is under way.
func (n *Network[M]) Quiet() bool {
	for _, q := range n.queues {
		if len(q) > 0 {
			return false
		}
	}
	return true
}
