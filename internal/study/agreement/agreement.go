// Package agreement simulates the agreement of package proto/agreement in LogP time: what it
// costs in messages, bytes and steps, without deaths and with them.
//
// # The model
//
// Sending takes a process the overhead o, a message travels for the latency L, and receiving takes
// o again. A process sends one message at a time and receives one at a time; it can do both at
// once. All members enter the agreement at step 0. A process that dies sends nothing more; what it
// had begun to send arrives. All live members hear of a death a fixed number of steps later: how
// deaths are found is the failure detector's business.
//
// # Limits
//
// One agreement at a time (two with Strict), and no computation between them. The time that a
// machine takes to put sets together isn't counted.
package agreement

import (
	"container/heap"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/agreement"
	"banyan/internal/study/field"
	"banyan/internal/topology"
)

// Death is the death of one member.
type Death struct {
	Member int
	At     proto.Time // negative: dead from the start, and known to be
}

// Case is one agreement to be simulated.
type Case struct {
	Procs, Latency, Overhead int
	Tree                     string // star, binomial, kary, lame or optimal
	K                        int    // of the k-ary and the Lamé tree
	Numbering                topology.Numbering
	Deaths                   []Death
	Notice                   int  // steps from a death until all live members know it
	Strict                   bool // returns when all live members have the decision
	Close                    bool // and then all close the communicator
}

// Outcome is what happened.
type Outcome struct {
	Messages int // sent until the last live member returned, and those that followed from them
	Bytes    int
	// First and Latency are when the first and the last live member returned.
	First, Latency proto.Time
	Quiescence     proto.Time // nothing is under way any more
	Live, Missing  int        // members that live; contributions that aren't in the decision
	CloseMessages  int        // for closing
}

func (c *Case) tree() (topology.Tree, error) {
	switch c.Tree {
	case "star":
		return topology.KAry(c.Procs, max(1, c.Procs-1), c.Numbering)
	case "binomial":
		return topology.Binomial(c.Procs, c.Numbering)
	case "kary":
		return topology.KAry(c.Procs, c.K, c.Numbering)
	case "lame":
		return topology.Lame(c.Procs, c.K, c.Numbering)
	case "optimal":
		return topology.Optimal(c.Procs, c.Latency, c.Overhead, c.Numbering)
	}
	return topology.Tree{}, field.Errorf("tree", "unknown tree %q: want star, binomial, kary, lame or optimal", c.Tree)
}

// MaxProcs is the most members that can be simulated.
const MaxProcs = 1 << 16

// Validate returns a *field.Error if the case can't be simulated.
func (c *Case) Validate() error {
	switch {
	case c.Procs < 1 || c.Procs > MaxProcs:
		return field.Errorf("procs", "%d: want 1 to %d", c.Procs, MaxProcs)
	case c.Latency < 0 || c.Latency > 1<<30:
		return field.Errorf("latency", "%d: want 0 to %d", c.Latency, 1<<30)
	case c.Overhead < 1 || c.Overhead > 1<<30:
		return field.Errorf("overhead", "%d: want 1 to %d", c.Overhead, 1<<30)
	case c.Notice < 0 || c.Notice > 1<<30:
		return field.Errorf("notice", "%d: want 0 to %d", c.Notice, 1<<30)
	case (c.Tree == "kary" || c.Tree == "lame") && c.K < 1:
		return field.Errorf("k", "%d: want 1 or more", c.K)
	case c.Tree != "kary" && c.Tree != "lame" && c.K != 0:
		return field.Errorf("k", "%d: a %s tree has none", c.K, c.Tree)
	}
	if _, err := c.tree(); err != nil {
		return field.Wrap("tree", err)
	}
	dead := make(map[int]bool)
	for _, d := range c.Deaths {
		if d.Member < 0 || d.Member >= c.Procs || dead[d.Member] {
			return field.Errorf("kill", "process %d: want one of 0 to %d, once", d.Member, c.Procs-1)
		}
		dead[d.Member] = true
	}
	if len(dead) == c.Procs {
		return field.Errorf("kill", "nobody is left of %d processes", c.Procs)
	}
	return nil
}

// Simulate runs one agreement.
func Simulate(c *Case) (Outcome, error) {
	if err := c.Validate(); err != nil {
		return Outcome{}, err
	}
	tree, err := c.tree()
	if err != nil {
		return Outcome{}, err
	}
	s := &simulation{Case: c, processes: make([]process, c.Procs)}
	for p := range s.processes {
		s.processes[p].machine = agreement.New(agreement.Config{Self: p, Tree: tree})
		s.processes[p].returned = proto.Never
	}
	for _, d := range c.Deaths {
		if d.At < 0 {
			s.processes[d.Member].dead = true
			s.tell(d.Member)
		} else {
			s.push(event{at: d.At, kind: die, to: d.Member})
		}
	}
	for p := range s.processes {
		s.enter(p)
	}
	s.run()
	return s.outcome(), nil
}

// process is one member in the simulation.
type process struct {
	machine  *agreement.Machine
	dead     bool
	queue    []packet   // to be sent
	sending  bool       // the first of them is being sent
	free     proto.Time // when the last receive ends
	entered  int
	decided  int
	missing  int
	returned proto.Time
}

type packet struct {
	to      int
	message agreement.Message
}

type eventKind uint8

const (
	sent     eventKind = iota // a send has ended
	arrived                   // a message is there
	received                  // a receive has ended
	die
	notice // all hear of a death
)

type event struct {
	at       proto.Time
	sequence int
	kind     eventKind
	from, to int
	message  agreement.Message
}

// agenda is a heap of events by time, and of those at one time by their order.
type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].sequence < a[j].sequence
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push is for package heap.
func (a *agenda) Push(x any) { *a = append(*a, x.(event)) }

// Pop is for package heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

type simulation struct {
	*Case
	processes []process
	events    agenda
	sequence  int
	now       proto.Time
	closing   bool
	out       agreement.Actions
	o         Outcome
}

func (s *simulation) push(e event) {
	s.sequence++
	e.sequence = s.sequence
	heap.Push(&s.events, e)
}

// run plays everything, and then the closing of the communicator.
func (s *simulation) run() {
	s.play()
	if !s.Close {
		return
	}
	s.o.Quiescence, s.closing = s.now, true
	for p := range s.processes {
		if x := &s.processes[p]; !x.dead {
			x.machine.Close(false, &s.out)
			s.act(p)
		}
	}
	s.play()
}

func (s *simulation) play() {
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		s.handle(&e)
	}
}

func (s *simulation) handle(e *event) {
	x := &s.processes[e.to]
	switch e.kind {
	case sent:
		from := &s.processes[e.from]
		from.sending = false
		s.send(e.from)
	case arrived:
		x.free = max(x.free, s.now) + proto.Time(s.Overhead)
		s.push(event{at: x.free, kind: received, from: e.from, to: e.to, message: e.message})
	case received:
		if !x.dead {
			x.machine.Receive(e.from, e.message, &s.out)
			s.act(e.to)
		}
	case die:
		x.dead, x.queue = true, nil
		s.push(event{at: s.now + proto.Time(s.Notice), kind: notice, to: e.to})
	case notice:
		s.tell(e.to)
	}
}

// tell has all live members hear of a death.
func (s *simulation) tell(member int) {
	for p := range s.processes {
		if !s.processes[p].dead {
			s.processes[p].machine.Dead(member, &s.out)
			s.act(p)
		}
	}
}

func (s *simulation) enter(p int) {
	x := &s.processes[p]
	if x.dead {
		return
	}
	x.entered++
	x.machine.Contribute(agreement.Contribution{Flags: 1}, &s.out)
	s.act(p)
}

// act carries out what a machine asks for.
func (s *simulation) act(p int) {
	x := &s.processes[p]
	actions := s.out
	s.out = nil
	again := false
	for _, a := range actions {
		switch a.Kind {
		case agreement.Send:
			x.queue = append(x.queue, packet{a.To, a.Message})
		case agreement.Decide, agreement.Excluded:
			x.decided++
			if x.decided == 1 {
				x.missing = a.Message.Value.Missing.Len()
			}
			if again = s.Strict && x.decided == 1; !again {
				x.returned = s.now
			}
		}
	}
	s.out = actions[:0]
	s.send(p)
	if again {
		s.enter(p)
	}
}

// send begins a process's next send.
func (s *simulation) send(p int) {
	x := &s.processes[p]
	if x.dead || x.sending || len(x.queue) == 0 {
		return
	}
	next := x.queue[0]
	x.queue = slices.Delete(x.queue, 0, 1)
	x.sending = true
	if s.closing {
		s.o.CloseMessages++
	} else {
		s.o.Messages++
		s.o.Bytes += len(next.message.Append(nil))
	}
	end := s.now + proto.Time(s.Overhead)
	s.push(event{at: end, kind: sent, from: p})
	s.push(event{at: end + proto.Time(s.Latency), kind: arrived, from: p, to: next.to, message: next.message})
}

func (s *simulation) outcome() Outcome {
	o := s.o
	if !s.Close {
		o.Quiescence = s.now
	}
	o.First = proto.Never
	for p := range s.processes {
		x := &s.processes[p]
		if x.dead {
			continue
		}
		o.Live++
		o.Missing = x.missing
		o.First, o.Latency = min(o.First, x.returned), max(o.Latency, x.returned)
	}
	return o
}
