package logp

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/topology"
	"banyan/internal/trace"
)

// Outcome is what happened in one broadcast.
type Outcome struct {
	Messages   int        // sent, also to dead processes
	Unreached  int        // live processes that were never coloured
	Coloring   proto.Time // when the last live process was coloured
	Quiescence proto.Time // the end of the last receive, or arrival at a dead process
	// MaxGap is the longest run, round the ring of processes, of dead or live ones that no
	// message of dissemination reached.
	MaxGap int
	// Crashed is how many died during the broadcast. They don't count as live. Once
	// dissemination has reached them, they aren't part of a gap either.
	Crashed int
}

// Simulator runs broadcasts one after the other, and reuses its memory. The zero Simulator is
// ready.
type Simulator struct {
	// Progress, if set, is called from time to time with the number of messages sent so far.
	Progress func(messages int)
	// Listener, if set, is told of each broadcast when it is over.
	Listener Listener

	kinds    kindCounts // of the last run, if there is a listener
	network  Network
	detailed Detailed
	run      run
	path     []visit // of the walk through a tree
	walked   treeKey // the key of the last walk
	treeEnd  proto.Time
}

// Run simulates one case. It writes a trace unless that is nil; the caller flushes the trace.
// The error, a *field.Error, says what is wrong with the case.
func (s *Simulator) Run(c *Case, t *trace.Writer) (Outcome, error) {
	return s.runAs(c, t, func(r *run) Machines { return r })
}

// runAs lets a test put a layer between the machines and the network.
func (s *Simulator) runAs(c *Case, t *trace.Writer, as func(*run) Machines) (Outcome, error) {
	config, failed, err := c.prepare()
	if err != nil {
		return Outcome{}, err
	}
	if len(c.Crashes) > 0 || !c.Model.plain(c) {
		return s.runDetailed(c, config, failed, t, as)
	}
	latency, overhead := proto.Time(c.Latency), proto.Time(c.Overhead)
	if c.Synchronised && c.Tree != Gossip {
		config.CorrectAt = s.disseminationEnd(c, &config.Tree)
	}
	s.network.reset(c.Procs, latency, overhead, failed)
	s.network.trace, s.network.tick, s.network.kinds = t, s.Progress, nil
	if s.Listener != nil {
		s.kinds = kindCounts{}
		s.network.kinds = &s.kinds
	}
	s.run.start(config, failed, t, s.Listener != nil)
	activity := s.network.run(as(&s.run))
	if s.Listener != nil {
		s.tell(activity, failed.Has)
	}
	return Outcome{
		Messages:   activity.Messages,
		Quiescence: activity.Quiescence,
		Unreached:  c.Procs - failed.Len() - s.run.coloured,
		Coloring:   s.run.last,
		MaxGap:     s.run.maxGap(failed),
	}, nil
}

// runDetailed runs a case that isn't plain LogP. Synchronised correction starts
// at the end of dissemination without failures and without noise.
func (s *Simulator) runDetailed(c *Case, config broadcast.Config, failed Set, t *trace.Writer, as func(*run) Machines) (Outcome, error) {
	m := newModel(c)
	if c.Synchronised && c.Tree != Gossip {
		config.CorrectAt = s.walk(&config.Tree, m)
	}
	s.detailed.reset(c.Procs, m, failed, c.Crashes)
	s.detailed.trace, s.detailed.tick, s.detailed.kinds = t, s.Progress, nil
	if s.Listener != nil {
		s.kinds = kindCounts{}
		s.detailed.kinds = &s.kinds
	}
	s.run.start(config, failed, t, true)
	activity := s.detailed.run(as(&s.run))
	if s.Listener != nil {
		s.tell(activity, func(p int) bool { return s.detailed.flags[p]&isDead != 0 })
	}
	o := Outcome{
		Messages:   activity.Messages,
		Quiescence: activity.Quiescence,
		MaxGap:     s.run.maxGap(failed),
		Crashed:    s.detailed.crashed,
	}
	for p, f := range s.detailed.flags {
		switch {
		case f&isDead != 0:
		case s.run.states[p].Coloured():
			o.Coloring = max(o.Coloring, s.run.times[p])
		default:
			o.Unreached++
		}
	}
	return o, nil
}

// TraceHeader is the header for a trace of a case.
func (c *Case) TraceHeader() trace.Header {
	about := fmt.Sprintf("broadcast L=%d o=%d tree=%s k=%d numbering=%s correction=%s", c.Latency, c.Overhead, c.Tree, c.K, c.Numbering, c.Correction)
	if c.Tree == Gossip {
		about = fmt.Sprintf("broadcast L=%d o=%d tree=gossip time=%d rounds=%d seed=%d correction=%s", c.Latency, c.Overhead, c.Gossip.Until, c.Gossip.Rounds, c.Gossip.Seed, c.Correction)
	}
	return trace.Header{Driver: "logp", Procs: c.Procs, Unit: "step", About: about}
}

// run is the machines of one broadcast.
type run struct {
	config   broadcast.Config
	states   []broadcast.State
	pages    hugePages // of the arrays here
	coloured int
	last     proto.Time   // when the last of them was
	waits    []proto.Time // when a process may have something to send, ascending
	trace    *trace.Writer

	few int // if a test sets it: fewer messages than this aren't shared between cores

	timed      bool         // keep the following
	times      []proto.Time // when each process was coloured
	colouredBy []uint8      // and by which kind of message
}

func (r *run) start(config broadcast.Config, failed Set, t *trace.Writer, timed bool) {
	r.config, r.coloured, r.last, r.waits, r.trace, r.timed = config, 1, 0, r.waits[:0], t, timed
	procs := config.Tree.Procs()
	if len(r.states) != procs {
		r.states = makeHuge[broadcast.State](&r.pages, procs)
	}
	if timed && len(r.times) != procs {
		r.times, r.colouredBy = makeHuge[proto.Time](&r.pages, procs), makeHuge[uint8](&r.pages, procs)
	}
	share(procs, fewProcs, func(from, to int) {
		for p := from; p < to; p++ {
			r.config.Start(&r.states[p], p)
		}
	})
	if t != nil {
		failed.each(func(p int) {
			t.Write(trace.Event{Proc: proto.Proc(p), Event: trace.Dead, Peer: proto.NoProc})
		})
	}
	r.colour(0, 0, uint8(broadcast.KindTree))
}

func (r *run) colour(now proto.Time, p int, kind uint8) {
	if r.timed {
		r.times[p], r.colouredBy[p] = now, kind
	}
	if r.trace != nil {
		r.trace.Write(trace.Event{Time: now, Proc: proto.Proc(p), Event: trace.Coloured, Peer: proto.NoProc})
	}
}

// Receive shares many messages between two cores: no two are to one process.
func (r *run) Receive(now proto.Time, messages []Message) {
	before := r.coloured
	if len(messages) < r.many() {
		r.coloured += r.receive(now, messages)
	} else {
		var coloured atomic.Int64
		share(len(messages), 0, func(from, to int) { coloured.Add(int64(r.receive(now, messages[from:to]))) })
		r.coloured += int(coloured.Load())
	}
	if r.coloured > before {
		r.last = now
	}
}

// receive returns how many processes the messages colour.
func (r *run) receive(now proto.Time, messages []Message) (coloured int) {
	for _, x := range messages {
		if r.config.Receive(&r.states[x.To()], x.From(), broadcast.Kind(x.Kind())) {
			coloured++
			r.colour(now, x.To(), x.Kind())
		}
	}
	return coloured
}

// Send shares many processes between two cores.
func (r *run) Send(now proto.Time, processes []int32, out []Message) []Message {
	n := len(out)
	out = out[:n+len(processes)] // which costs half of what appending them does
	if len(processes) < r.many() || r.config.Correction == broadcast.Delayed {
		return out[:n+r.send(now, processes, out[n:])]
	}
	var sent [2]int // by each half
	half := len(processes) / 2
	share(len(processes), 0, func(from, to int) {
		sent[min(from, 1)] = r.send(now, processes[from:to], out[n+from:])
	})
	copy(out[n+sent[0]:], out[n+half:][:sent[1]])
	return out[:n+sent[0]+sent[1]]
}

// send writes the processes' messages to out and returns how many there are.
func (r *run) send(now proto.Time, processes []int32, out []Message) (n int) {
	for _, p := range processes {
		if to, kind, ok := r.config.SendReady(&r.states[p], now); ok {
			out[n] = NewMessage(int(p), to, uint8(kind))
			n++
		} else if r.config.Correction == broadcast.Delayed {
			r.wait(r.config.Deadline(&r.states[p], now))
		}
	}
	return n
}

// many is how many messages are shared between cores.
func (r *run) many() int {
	switch {
	case r.few > 0:
		return r.few
	case len(r.states) < fewProcs:
		return math.MaxInt
	}
	return largeChunk / 2
}

// wait notes a time at which a process may have a message to send. There are few such times:
// many processes wait for the same one.
func (r *run) wait(until proto.Time) {
	if until == proto.Never {
		return
	}
	if i, known := slices.BinarySearch(r.waits, until); !known {
		r.waits = slices.Insert(r.waits, i, until)
	}
}

// Deadline is the first deadline of all machines. The root's covers synchronised correction,
// since the root corrects whenever any process does.
func (r *run) Deadline(now proto.Time) proto.Time {
	first := r.config.Deadline(&r.states[0], now)
	for len(r.waits) > 0 && r.waits[0] <= now {
		r.waits = slices.Delete(r.waits, 0, 1)
	}
	if len(r.waits) > 0 {
		first = min(first, r.waits[0])
	}
	return first
}

func (r *run) KindName(kind uint8) string { return broadcast.Kind(kind).String() }

// maxGap doesn't go round the ring's end, since the root is reached.
func (r *run) maxGap(failed Set) int {
	longest, gap := 0, 0
	for p := range r.states {
		gap++
		if r.states[p].Reached() && !failed.Has(p) {
			gap = 0
		}
		longest = max(longest, gap)
	}
	return longest
}

// visit is a process on the path from the root, and the time of its next send.
type visit struct {
	children topology.Cursor
	process  int32
	sendAt   proto.Time
}

// treeKey is the part of a case on which the fault-free dissemination depends.
type treeKey struct {
	procs, latency, overhead, k int
	tree                        TreeKind
	numbering                   topology.Numbering
}

// disseminationEnd is the time at which the last process is coloured by the tree of a case if
// none is dead. The result is remembered, since cases that differ only in their failures are
// often run together.
func (s *Simulator) disseminationEnd(c *Case, t *topology.Tree) proto.Time {
	key := treeKey{c.Procs, c.Latency, c.Overhead, c.K, c.Tree, c.Numbering}
	if key != s.walked {
		s.walked = key
		s.treeEnd = s.walk(t, newModel(c))
	}
	return s.treeEnd
}

// walk follows the colouring along a tree. No branch waits for another: each process receives
// one message.
func (s *Simulator) walk(t *topology.Tree, m *model) proto.Time {
	end := proto.Time(0)
	path := append(s.path[:0], visit{children: t.Children(0)})
	for len(path) > 0 {
		v := &path[len(path)-1]
		child, ok := t.Next(&v.children)
		if !ok {
			path = path[:len(path)-1]
			continue
		}
		coloured := v.sendAt + 2*m.overhead + m.quiet(int(v.process), child)
		v.sendAt += m.gap
		end = max(end, coloured)
		path = append(path, visit{t.Children(child), int32(child), coloured})
	}
	s.path = path
	return end
}
