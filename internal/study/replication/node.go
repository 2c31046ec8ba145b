package replication

import (
	"math"

	"banyan/internal/prefetch"
	"banyan/internal/proto"
	"banyan/internal/proto/causal"
	"banyan/internal/proto/match"
	"banyan/internal/proto/replica"
	"banyan/internal/study/driver/loggp"
	"banyan/internal/study/replication/pattern"
)

// node is one process: a program, the machines below it, and one processor for both.
//
// Its machine of replication knows a layout of the node's own rank and its partners only, numbered
// anew in their order (neighbourhood.go). All else it would know of concerns nobody here.
type node struct {
	job     *job
	port    *port
	self    proto.Proc
	rank    proto.Rank
	around  *neighbourhood
	machine *replica.Machine
	out     replica.Actions
	queues  *match.Queues
	clock   *causal.Clock // nil unless causality is simulated

	now      proto.Time // how far the processor's time has been spent
	phase    phase
	until    proto.Time // computing: the end
	listens  proto.Time // computing: from when on frames are handled
	dies     proto.Time
	ops      []pattern.Op
	op, step int
	underway int    // sends and receives that haven't ended
	room     int    // of them, eager sends that wait for room
	offered  int    // of them, sends that the receivers' acknowledgements end
	sends    int64  // of the program
	random   uint64 // state of its draws

	pace         replica.AckPace
	arrivals     []arrival
	vacant       []uint32 // of them
	alternatives []alternative
	redirects    []replica.Action
	offers       []*replica.Message // by id; nil: none
	spare        []*replica.Message // messages to be used again
	early        []frame            // messages that wait for their cause
	learned      [][]byte           // stamps of what the program receives, until it knows
	pauses       []pause
	heal         *healing // nil unless the dead are replaced

	tally tally
}

// phase says what a node's program does.
type phase uint8

const (
	running   phase = iota // issues operations
	computing              // until node.until
	waiting                // for the end of operations
	donating               // until all have prepared
	given                  // its state; until all know the replacement
	joining                // as a replacement, likewise
	finished
	dead
)

var _ loggp.Node[body] = (*node)(nil)

// Act implements loggp.Node.
func (n *node) Act(p *port, end proto.Time) (wake proto.Time) {
	n.port = p
	for n.phase != dead || n.raised(end) {
		wake = n.act(end)
		if n.phase != dead && (n.dies < end || n.now >= n.dies) {
			n.die()
		}
		if n.phase != dead {
			return min(wake, n.dies)
		}
	}
	p.Await(1, 0, proto.Never)
	return min(p.Next(), p.NextUrgent())
}

// Fetch implements loggp.Fetcher.
func (n *node) Fetch(stage int) {
	if stage == 0 {
		prefetch.Value(n)
		return
	}
	n.machine.Fetch(stage - 1)
	switch stage {
	case 1:
		prefetch.First(n.around)
		prefetch.Slice(n.ops)
		prefetch.Slice(n.out[:min(cap(n.out), 3)])
		prefetch.Slice(n.spare[max(0, len(n.spare)-4):])
		n.queues.Fetch(0)
	case 2:
		prefetch.Slice(n.around.ranks[:min(len(n.around.ranks), 16)])
		n.queues.Fetch(1)
		for _, m := range n.spare[max(0, len(n.spare)-4):] {
			prefetch.Value(m)
		}
	}
}

// act does what there is to do before a time, and says when it goes on. What it does with an event
// before that time may take longer: all events that could come between are known. And a program
// that issues operations isn't interrupted.
func (n *node) act(end proto.Time) (wake proto.Time) {
	for n.phase != dead && n.now < n.dies {
		if n.heal != nil && n.heal.handover {
			n.handOver()
			continue
		}
		if n.phase == running {
			n.run()
			continue
		}
		next := n.next()
		if n.phase == computing && n.until <= max(next, n.now) {
			if n.until >= end && !n.undisturbed() {
				n.port.Ignore(min(n.until, n.listens))
				return n.until
			}
			n.now, n.phase = n.until, running
			continue
		}
		if next >= end {
			if n.phase == computing {
				n.port.Ignore(n.listens)
				return min(n.until, next)
			}
			return max(min(n.port.Await(n.patience()), n.deadline()), end)
		}
		if max(next, n.now) >= n.dies {
			n.now = n.dies
			break
		}
		n.handle(next)
	}
	return proto.Never
}

// undisturbed says whether nothing that may yet come changes what a program does that computes.
// Then it goes on at once, ahead of the others, until it waits: its state is in the cache now.
func (n *node) undisturbed() bool { return n.until <= n.listens && n.job.crashes == nil }

// patience is how many messages of how many bytes may wait, for how long, before this process,
// which waits, does anything that others see: before its operations can have ended, and before it
// has to acknowledge.
// Nothing else that it does with a message or an acknowledgement makes a frame, but with mirror
// where a report may be due, and where a send waits for room or for an acknowledgement.
func (n *node) patience() (messages int32, bytes int64, within proto.Time) {
	if n.phase != waiting || n.job.settings.Mirror || n.job.settings.Printed || n.room > 0 || n.offered > 0 {
		return 1, 0, proto.Never
	}
	missing := n.underway - int(n.ops[n.op].Bytes)
	if !n.job.replicated {
		return int32(missing), math.MaxInt64, proto.Never
	}
	return int32(min(missing, replica.AcksOwedLimit-n.machine.AcksOwed())), int64(n.pace.Room()), replica.AcksOwedTime
}

// deadline is when the node acts if no frame comes.
func (n *node) deadline() proto.Time {
	at := n.port.NextUrgent()
	switch first := n.port.Next(); {
	case n.machine.AcksOwed() > 0:
		at = min(at, max(n.pace.Due, n.now))
	case n.job.replicated && first != proto.Never:
		at = min(at, max(first, n.now)+replica.AcksOwedTime)
	}
	return at
}

// next is when what the node handles next has come: the first frame, news or deadline.
func (n *node) next() proto.Time {
	next := n.port.Next()
	if n.machine.AcksOwed() > 0 {
		next = min(next, max(n.pace.Due, n.now)) // the engine looks at the clock when it has read
	}
	if n.phase == computing {
		next = max(next, n.listens)
	}
	return min(next, n.port.NextUrgent())
}

// handle handles what has come at a time, then or when the processor is free.
func (n *node) handle(came proto.Time) {
	at := max(came, n.now)
	n.now = at
	switch {
	case n.port.NextUrgent() <= came:
		n.take(n.port.TakeUrgent())
	case n.port.Next() <= came:
		n.take(n.port.Take())
	default:
		n.flushAcks()
	}
	if n.phase == finished {
		n.flushAcks() // it would leave
	}
	if n.phase == computing {
		n.until += n.now - at // there is one processor
	}
	if n.room > 0 && n.hasRoom() {
		n.underway -= n.room
		n.room = 0
	}
	if n.phase == waiting && n.underway <= int(n.ops[n.op].Bytes) {
		n.learn()
		n.op++
		n.phase = running
	}
}

// spend spends time of the processor.
func (n *node) spend(t proto.Time) { n.now += t }

// run has the program go on until it computes, waits or dies.
func (n *node) run() {
	for n.now < n.dies {
		if n.op == len(n.ops) {
			if n.step == n.job.settings.Steps {
				n.finish()
				return
			}
			if n.donates() {
				return
			}
			if n.mortal() && n.job.crashes.strikesStep(n.self, n.step) {
				n.dies = n.now
				n.die()
				return
			}
			n.ops = n.job.pattern.Step(n.rank, n.ops[:0])
			n.op = 0
			n.step++
			continue
		}
		op := &n.ops[n.op]
		switch op.Kind {
		case pattern.Compute:
			n.op++
			n.until = n.now + n.duration(op.Share)
			n.listens = n.now + progressTick
			n.phase = computing
			return
		case pattern.Receive:
			n.op++
			n.underway++
			n.receive(op)
		case pattern.Send:
			n.sends++
			if n.mortal() && n.job.crashes.strikesSend(n.self, n.sends) {
				n.dies = n.now
				n.die()
				return
			}
			n.op++
			n.send(op)
		case pattern.Wait:
			if n.underway > int(op.Bytes) {
				n.phase = waiting
				return
			}
			n.learn()
			n.op++
		}
	}
}

// progressTick is how long a process that doesn't wait takes in no frames: then its progress thread
// does (package engine).
const progressTick = proto.Time(2e6)

// finish ends the program. The process still acknowledges, and sends for others.
func (n *node) finish() {
	n.tally.retains(n)
	n.phase = finished
	n.tally.finished = n.now
	n.decline()
	if n.job.replicated {
		n.machine.Through(&n.out)
		n.carryOut()
		n.flushAcks()
	}
}

// hasRoom says whether an eager send may complete at once.
func (n *node) hasRoom() bool {
	if !n.job.replicated {
		return true
	}
	messages, bytes := n.machine.Retained()
	return uint64(messages)*replica.RetainCost+bytes <= replica.RetainLimit && !n.machine.Throttled()
}

// proc is a process of the neighbourhood in the whole job.
func (n *node) proc(local proto.Proc) proto.Proc { return n.around.proc(n.job.layout, local) }

// local is a process of the job in the neighbourhood.
func (n *node) local(p proto.Proc) proto.Proc { return n.around.local(n.job.layout, p) }

// rankOf is a rank of the neighbourhood in the whole job.
func (n *node) rankOf(local proto.Rank) proto.Rank { return n.around.ranks[local] }

func (n *node) newMachine() *replica.Machine {
	s := &n.job.settings
	return replica.New(replica.Config{Layout: n.around.layout(s.Degree), Self: n.local(n.self), Mirror: s.Mirror, MaxSkew: replica.SkewLimit})
}

// newNode makes a process at time 0.
func newNode(j *job, self proto.Proc, around *neighbourhood) *node {
	n := &node{job: j, self: self, rank: j.layout.Rank(self), around: around, dies: proto.Never, pace: replica.NewAckPace(j.settings.Printed)}
	n.machine = n.newMachine()
	if j.settings.Healing.After > 0 {
		n.heal = new(healing)
	}
	n.queues = match.New()
	if j.replicated && j.pattern.AnySource() {
		n.clock = causal.New(n.rank, j.layout.Ranks())
	}
	n.seed()
	return n
}
