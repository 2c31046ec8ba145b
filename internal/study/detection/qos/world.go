package qos

import (
	"math/rand/v2"

	"banyan/internal/proto"
	"banyan/internal/study/driver/oneport"
	"banyan/internal/study/parallel"
)

// group is all machines of a run. A call appends what a node sends.
type group[M oneport.Message] interface {
	receive(now proto.Time, node, from int32, m *M, out *[]oneport.Send[M])
	tick(now proto.Time, node int32, out *[]oneport.Send[M])
	deadline(node int32) proto.Time
}

// run is one simulation, whatever the detector's messages are.
type run interface {
	Run(until proto.Time) bool
	Crash(node int32, at proto.Time)
	Alive(node int32) bool
	Now() proto.Time
	// sent is how many messages have been sent.
	sent() int
	// history is what the processes have declared.
	history() *History
	// haltWhenDetected has Run return as soon as all live processes know of every crash.
	haltWhenDetected()
}

// world is the network around a group: it cuts links, and makes datagrams streams.
type world[M oneport.Message] struct {
	*oneport.Network[M]
	group   group[M]
	scene   *Scenario
	seed    uint64
	streams *streams[M] // nil for datagrams
	past    *History
	halting bool
}

func newWorld[M oneport.Message](scene *Scenario, system System, seed uint64) *world[M] {
	w := &world[M]{scene: scene, seed: seed, past: NewHistory(scene.Nodes, 0)}
	if system == RingStream {
		w.streams = newStreams[M](scene, parallel.Seed(seed, 2))
	}
	return w
}

func (w *world[M]) history() *History { return w.past }
func (w *world[M]) sent() int         { return w.Counts.Total() }
func (w *world[M]) haltWhenDetected() { w.halting = true }

// fence stops a process that has learned that it counts as dead.
func (w *world[M]) fence(now proto.Time, node int32) {
	w.past.Fence(now, node)
	w.Crash(node, now)
}

// declared is called after every change of the history.
func (w *world[M]) declared() {
	if w.halting && w.past.Detected() {
		w.Halt()
	}
}

// Receive is called by the network.
func (w *world[M]) Receive(now proto.Time, node, from int32, m *M, out *[]oneport.Send[M]) {
	switch {
	case w.isCut(now, node, from):
	case w.streams != nil && w.streams.delay(now, node, from, m):
	default:
		w.group.receive(now, node, from, m, out)
	}
}

// Tick is called by the network.
func (w *world[M]) Tick(now proto.Time, node int32, out *[]oneport.Send[M]) {
	if w.streams != nil {
		for {
			from, m, ok := w.streams.due(now, node)
			if !ok {
				break
			}
			w.group.receive(now, node, from, &m, out)
		}
	}
	if w.group.deadline(node) <= now {
		w.group.tick(now, node, out)
	}
}

// Deadline is called by the network.
func (w *world[M]) Deadline(node int32) proto.Time {
	d := w.group.deadline(node)
	if w.streams != nil {
		d = min(d, w.streams.next(node))
	}
	return d
}

// Crashed is called by the network. Fenced processes aren't counted.
func (w *world[M]) Crashed(now proto.Time, node int32) {
	w.past.Crash(now, node)
	w.declared()
}

// isCut says whether a pair of nodes can't reach each other. It draws from the pair's own seed:
// once, or anew each time that a cut would be over.
func (w *world[M]) isCut(now proto.Time, a, b int32) bool {
	if w.scene.Cut == 0 {
		return false
	}
	lot := parallel.Seed(w.seed, 3, int(min(a, b)), int(max(a, b)))
	if w.scene.CutFor > 0 {
		lot = parallel.Seed(lot, int(now/w.scene.CutFor))
	}
	return float64(lot>>11)/(1<<53) < w.scene.Cut
}

// streams delay a lost message until it has been sent again, and later messages of the same
// sender until then.
type streams[M any] struct {
	scene *Scenario
	rng   *rand.Rand
	last  []proto.Time // by receiver · nodes + sender: when the latest late message arrives
	late  [][]late[M]  // by receiver, the earliest first
}

// late is a message on its way for longer.
type late[M any] struct {
	at      proto.Time
	from    int32
	message M
}

func newStreams[M any](scene *Scenario, seed uint64) *streams[M] {
	n := scene.Nodes
	return &streams[M]{
		scene: scene, rng: rand.New(rand.NewPCG(seed, 0)),
		last: make([]proto.Time, n*n), late: make([][]late[M], n),
	}
}

// delay decides whether a message that would arrive now is late, and keeps it then.
func (s *streams[M]) delay(now proto.Time, node, from int32, m *M) bool {
	at, wait := now, s.scene.Retransmit
	for s.scene.Loss > 0 && s.rng.Float64() < s.scene.Loss {
		at += wait
		wait *= 2
	}
	last := &s.last[int(node)*s.scene.Nodes+int(from)]
	at = max(at, *last)
	if at == now {
		return false
	}
	*last = at
	queue := append(s.late[node], late[M]{})
	i := len(queue) - 1
	for i > 0 && queue[i-1].at > at {
		queue[i] = queue[i-1]
		i--
	}
	queue[i] = late[M]{at, from, *m}
	s.late[node] = queue
	return true
}

// due takes out the first late message of a node that has arrived by now.
func (s *streams[M]) due(now proto.Time, node int32) (from int32, m M, ok bool) {
	queue := s.late[node]
	if len(queue) == 0 || queue[0].at > now {
		return 0, m, false
	}
	first := queue[0]
	s.late[node] = append(queue[:0], queue[1:]...)
	return first.from, first.message, true
}

// next is when the next late message of a node arrives.
func (s *streams[M]) next(node int32) proto.Time {
	if len(s.late[node]) == 0 {
		return proto.Never
	}
	return s.late[node][0].at
}
