package oneport

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"banyan/internal/proto"
)

// Message is what nodes send each other.
type Message interface {
	// Kind is below [Kinds]; messages are counted by it.
	Kind() uint8
}

// Kinds is how many kinds of messages there may be.
const Kinds = 8

// Send is one message that a node wants to send.
type Send[M Message] struct {
	To      int32
	Message M
}

// Nodes are the machines of all nodes of a network, numbered from 0. A call is for
// one node; it appends what that node sends to out.
type Nodes[M Message] interface {
	// Receive hands a message to its receiver. It is the callee's until it returns.
	Receive(now proto.Time, node, from int32, m *M, out *[]Send[M])
	// Tick is called when a node's deadline has come. The deadline must be later after it.
	Tick(now proto.Time, node int32, out *[]Send[M])
	// Deadline is when the node's next Tick is due, or proto.Never. It is asked at
	// the start and after each call for the node.
	Deadline(node int32) proto.Time
	// Crashed says that a node has died. It gets no more calls.
	Crashed(now proto.Time, node int32)
}

// Config is a network. Times are in one unit, whichever; nanoseconds do.
type Config struct {
	Nodes int
	Tau   proto.Time // τ, at least 1: the longest time of a message without contention
	Fixed bool       // every message takes τ, not a time drawn from (0, τ]
	Loss  float64    // probability that a message vanishes
	Load  Load
	Seed  uint64
}

// Load stops nodes at random: each loaded one runs for a while, stalls for a while,
// and so on; both times are exponentially distributed.
type Load struct {
	Share  float64    // probability that a node is loaded
	Every  proto.Time // mean time between the end of a stall and the next
	Stalls proto.Time // mean time of a stall
}

// Validate returns an error for a network that makes no sense.
func (c *Config) Validate() error {
	switch {
	case c.Nodes < 1 || c.Nodes > 1<<30:
		return fmt.Errorf("%d nodes: want 1 to 2^30", c.Nodes)
	case c.Tau < 1:
		return fmt.Errorf("messages that take %d: want 1 at least", c.Tau)
	case !(c.Loss >= 0 && c.Loss <= 1): // also if it is no number
		return fmt.Errorf("loss %v: want a probability", c.Loss)
	case !(c.Load.Share >= 0 && c.Load.Share <= 1):
		return fmt.Errorf("share of loaded nodes %v: want 0 to 1", c.Load.Share)
	case c.Load.Share > 0 && (c.Load.Every < 1 || c.Load.Stalls < 1):
		return fmt.Errorf("stalls of %d every %d: want 1 at least", c.Load.Stalls, c.Load.Every)
	}
	return nil
}

// Counts is what happened on a network.
type Counts struct {
	Events   int
	Sent     [Kinds]int // transfers begun, by kind, to dead nodes too
	Received int        // by live nodes
	Lost     int        // by loss, not by crashes
}

// Total is how many messages were sent.
func (c *Counts) Total() int {
	total := 0
	for _, n := range c.Sent {
		total += n
	}
	return total
}

// Network runs nodes.
type Network[M Message] struct {
	Counts

	cfg    Config
	nodes  Nodes[M]
	source rand.PCG
	rng    *rand.Rand
	now    proto.Time
	events queue
	ports  []port
	cells  cells[M]
	out    []Send[M]
	taken  M // the message that is being handed over
	halted bool
}

// New makes a network at time 0. Its nodes are asked for their first deadlines.
func New[M Message](cfg Config, nodes Nodes[M]) (*Network[M], error) {
	w := &Network[M]{}
	return w, w.Reset(cfg, nodes)
}

// Reset makes it a new network, in the memory of the old.
func (w *Network[M]) Reset(cfg Config, nodes Nodes[M]) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	w.cfg, w.nodes = cfg, nodes
	w.Counts, w.now, w.halted = Counts{}, 0, false
	w.source.Seed(cfg.Seed, 0x6f6e65706f7274)
	if w.rng == nil {
		w.rng = rand.New(&w.source)
	}
	w.events.clear()
	w.cells.clear()
	if cap(w.ports) < cfg.Nodes {
		w.ports = make([]port, cfg.Nodes)
	}
	w.ports = w.ports[:cfg.Nodes]
	for i := range w.ports {
		w.ports[i] = idle
	}
	if cfg.Load.Share > 0 {
		for i := range w.ports {
			if w.rng.Float64() < cfg.Load.Share {
				w.schedule(w.exponential(cfg.Load.Every), stallLoad, int32(i))
			}
		}
	}
	for i := range w.ports {
		w.watch(int32(i))
	}
	return nil
}

// Now is the time of the event that happens, or up to which the network has run.
func (w *Network[M]) Now() proto.Time { return w.now }

// Alive says whether a node hasn't crashed.
func (w *Network[M]) Alive(node int32) bool { return w.ports[node].state&dead == 0 }

// Crash has a node die at a time that isn't past.
func (w *Network[M]) Crash(node int32, at proto.Time) { w.schedule(at, crash, node) }

// Stop stops a node's loop from a time until another. Stops may overlap.
func (w *Network[M]) Stop(node int32, from, until proto.Time) {
	w.schedule(from, stop, node)
	w.schedule(until, resume, node)
}

// Hurry asks a node for its deadline, which has become earlier without a call of the node.
func (w *Network[M]) Hurry(node int32) { w.watch(node) }

// Halt has Run return after the present event. Nodes call it.
func (w *Network[M]) Halt() { w.halted = true }

// Run plays the events up to and including a time, and says whether it came that far: if not, a
// node has called Halt, and Run may be called again.
func (w *Network[M]) Run(until proto.Time) bool {
	w.halted = false
	for {
		e, ok := w.events.take(until)
		if !ok {
			w.now = max(w.now, until)
			return true
		}
		w.now = e.time
		w.Events++
		w.happen(e)
		if w.halted {
			return false
		}
	}
}

func (w *Network[M]) happen(e event) {
	switch e.kind {
	case timer:
		w.tick(e.node)
	case transfer:
		w.transferred(e.node)
	case crash:
		w.die(e.node)
	case stop:
		w.stall(e.node)
	case resume:
		w.wake(e.node)
	case stallLoad:
		if w.Alive(e.node) {
			w.stall(e.node)
			w.schedule(w.now+w.exponential(w.cfg.Load.Stalls), wakeLoad, e.node)
		}
	case wakeLoad:
		if w.Alive(e.node) {
			w.schedule(w.now+w.exponential(w.cfg.Load.Every), stallLoad, e.node)
			w.wake(e.node)
		}
	}
}

func (w *Network[M]) schedule(at proto.Time, kind eventKind, node int32) {
	w.events.add(event{max(at, w.now), node, kind})
}

// duration is that of a transfer.
func (w *Network[M]) duration() proto.Time {
	if w.cfg.Fixed {
		return w.cfg.Tau
	}
	high, _ := bits.Mul64(w.source.Uint64(), uint64(w.cfg.Tau))
	return 1 + proto.Time(high)
}

func (w *Network[M]) exponential(mean proto.Time) proto.Time {
	return 1 + proto.Time(w.rng.ExpFloat64()*float64(mean))
}
