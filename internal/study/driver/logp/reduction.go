package logp

import (
	"fmt"
	"math/bits"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/field"
	"banyan/internal/study/protocol/reduction"
	"banyan/internal/trace"
)

// Reduction is one reduction to be simulated.
type Reduction struct {
	// Case gives the processes, the tree, the deaths, and the model. There is no gossip, and no
	// correction of a broadcast.
	Case       Case
	Distance   int  // neighbours on each side with a copy of a contribution
	Idempotent bool // of the operation: a maximum rather than a sum
}

// ReductionOutcome is what happened in one reduction.
type ReductionOutcome struct {
	Messages   int        // sent, also to dead processes
	Latency    proto.Time // when the root had the result
	Quiescence proto.Time // the end of the last receive, or arrival at a dead process
	Live       int        // processes that lived to the end
	Included   int        // contributions in the result; also of processes that died meanwhile
	Missing    int        // live processes whose contributions aren't in the result
	// Named is the number of contributions that the root knows by name to be missing. The
	// others that are missing were lost with a process's copies.
	Named   int
	Silent  int  // processes whose parts were given up by live ones, on the root's list
	Longest int  // the largest number of them in one message
	Mended  bool // the tree was climbed twice
	Crashed int  // processes that died during the reduction
}

// prepare makes what a run needs, and so finds errors.
func (c *Reduction) prepare() (reduction.Config, Set, error) {
	if c.Case.Tree == Gossip || c.Case.Correction != broadcast.NoCorrection {
		return reduction.Config{}, nil, field.Errorf("tree", "a reduction has no gossip, and no correction of a broadcast")
	}
	base, failed, err := c.Case.prepare()
	if err != nil {
		return reduction.Config{}, nil, err
	}
	m := &c.Case.Model
	config := reduction.Config{
		Tree: base.Tree, Distance: c.Distance, Idempotent: c.Idempotent,
		Pace: proto.Time(max(m.Gap, c.Case.Overhead)),
		Hop:  proto.Time(2*c.Case.Overhead + max(c.Case.Latency, m.LatencyWithin) + m.Noise),
	}
	if err := config.Prepare(); err != nil {
		plain := config
		if plain.Distance = 0; plain.Prepare() != nil {
			return config, nil, field.Wrap("tree", err)
		}
		return config, nil, field.Wrap("distance", err)
	}
	return config, failed, nil
}

// Validate returns a *field.Error if the reduction can't be run.
func (c *Reduction) Validate() error {
	_, _, err := c.prepare()
	return err
}

// TraceHeader is the header for a trace of a reduction.
func (c *Reduction) TraceHeader() trace.Header {
	h := c.Case.TraceHeader()
	h.About = fmt.Sprintf("reduction L=%d o=%d tree=%s k=%d numbering=%s distance=%d idempotent=%t",
		c.Case.Latency, c.Case.Overhead, c.Case.Tree, c.Case.K, c.Case.Numbering, c.Distance, c.Idempotent)
	return h
}

// Reduce simulates one reduction. It writes a trace unless that is nil; the caller flushes the
// trace. The error, a *field.Error, says what is wrong with the case.
func (s *Simulator) Reduce(c *Reduction, t *trace.Writer) (ReductionOutcome, error) {
	var r reduce
	return s.reduceWith(&r, c, t)
}

// reduceWith lets a test see the result.
func (s *Simulator) reduceWith(r *reduce, c *Reduction, t *trace.Writer) (ReductionOutcome, error) {
	config, failed, err := c.prepare()
	if err != nil {
		return ReductionOutcome{}, err
	}
	if r.hurry > 0 {
		config.Hop -= r.hurry
		if err := config.Prepare(); err != nil {
			return ReductionOutcome{}, err
		}
	}
	r.start(config, failed, t)
	var activity Activity
	crashed := 0
	if len(c.Case.Crashes) > 0 || !c.Case.Model.plain(&c.Case) {
		s.detailed.reset(c.Case.Procs, newModel(&c.Case), failed, c.Case.Crashes)
		s.detailed.trace, s.detailed.tick = t, s.Progress
		activity, r.flags, crashed = s.detailed.run(r), s.detailed.flags, s.detailed.crashed
	} else {
		s.network.reset(c.Case.Procs, proto.Time(c.Case.Latency), proto.Time(c.Case.Overhead), failed)
		s.network.trace, s.network.tick = t, s.Progress
		activity, r.flags = s.network.run(r), s.network.flags
	}
	o := ReductionOutcome{
		Messages: activity.Messages, Quiescence: activity.Quiescence, Latency: r.ended, Crashed: crashed,
		Mended: r.mended, Longest: r.longest, Silent: r.silent.Len(),
	}
	included, named := r.included(), r.named()
	for p, f := range r.flags {
		if included.Has(p) {
			o.Included++
		} else if named.Has(p) {
			o.Named++
		}
		if f&isDead == 0 {
			o.Live++
			if !included.Has(p) {
				o.Missing++
			}
		}
	}
	return o, nil
}

// reduce is the machines of one reduction and what they carry. A message's value and list are
// those of its sender at the time of the send. They don't change afterwards: a part is closed
// when it is sent, and so is a rest.
type reduce struct {
	config reduction.Config
	states []reduction.State
	parts  []carried // of each process
	rests  []carried
	next   []int32 // of each process on a list, the next one on it
	waits  []proto.Time
	trace  *trace.Writer

	// contribution is a process's value; without it, 1.
	contribution func(p int) uint64
	// hurry shortens the bound of a message's time that the processes use.
	hurry proto.Time

	silent Set    // the root's list, once it is complete
	cutOff []bool // the processes cut off by those
	mended bool
	ended  proto.Time // when the root had the result
	done   bool

	// Only for the outcome, unknown to the processes:
	climbed []uint8  // which of a process's messages its parent has combined
	taker   []int32  // of each process, the one that has put its copy into a rest, or none
	copies  []uint64 // of each process, the copies that its idempotent part has
	longest int
	flags   []uint8 // of the network
}

// Bits of climbed.
const (
	partClimbed = 1 << iota
	restClimbed
)

// carried is a value, how many contributions it has, and a list of silent processes.
type carried struct {
	value                      uint64
	first, last, length, count int32
}

func (r *reduce) start(config reduction.Config, failed Set, t *trace.Writer) {
	procs := config.Tree.Procs()
	*r = reduce{
		config: config, trace: t, contribution: r.contribution, hurry: r.hurry,
		states: make([]reduction.State, procs), parts: make([]carried, procs), rests: make([]carried, procs),
		next: make([]int32, procs), silent: NewSet(procs), cutOff: make([]bool, procs),
		climbed: make([]uint8, procs), taker: make([]int32, procs), copies: make([]uint64, procs),
	}
	for p := range r.states {
		r.config.Start(&r.states[p], p)
		r.parts[p] = carried{value: r.valueOf(p), count: 1, first: none}
		r.rests[p] = carried{first: none}
		r.taker[p] = none
		if t != nil && failed.Has(p) {
			t.Write(trace.Event{Proc: proto.Proc(p), Event: trace.Dead, Peer: proto.NoProc})
		}
	}
}

func (r *reduce) valueOf(p int) uint64 {
	if r.contribution == nil {
		return 1
	}
	return r.contribution(p)
}

// combine adds the value and the list that a message carries.
func (r *reduce) combine(to *carried, from carried) {
	if r.config.Idempotent {
		to.value |= from.value
	} else {
		to.value += from.value
	}
	to.count += from.count
	if from.first == none {
		return
	}
	if to.first == none {
		to.first = from.first
	} else {
		r.next[to.last] = from.first
	}
	to.last, to.length = from.last, to.length+from.length
}

// giveUp adds the silent children of a process to a list.
func (r *reduce) giveUp(c *carried, p int, kind reduction.Kind) {
	var room [64]int32
	for _, child := range r.config.AppendSilent(room[:0], &r.states[p], kind) {
		r.next[child] = none
		r.combine(c, carried{first: child, last: child, length: 1})
	}
}

func (r *reduce) Receive(_ proto.Time, messages []Message) {
	for _, x := range messages {
		from, to, kind := x.From(), x.To(), reduction.Kind(x.Kind())
		if r.config.Receive(&r.states[to], from, kind) != reduction.Combine {
			continue
		}
		if kind == reduction.KindRest {
			r.climbed[from] |= restClimbed
			r.combine(&r.rests[to], r.rests[from])
		} else {
			r.climbed[from] |= partClimbed
			r.combine(&r.parts[to], r.parts[from])
		}
	}
}

func (r *reduce) Send(now proto.Time, processes []int32, out []Message) []Message {
	for _, p := range processes {
		s := &r.states[p]
		open := !s.Closed()
		to, kind, ok := r.config.SendReady(s, now)
		if open && s.Closed() {
			r.close(int(p))
		}
		if kind == reduction.KindRest || p == 0 && s.Done() && !r.done {
			r.take(int(p))
		}
		if p == 0 && s.Done() && !r.done {
			r.done, r.ended = true, now
		}
		if ok {
			out = append(out, NewMessage(int(p), to, uint8(kind)))
			r.longest = max(r.longest, r.carries(int(p), kind))
		} else if until := r.config.Deadline(s, now); until != proto.Never {
			if i, known := slices.BinarySearch(r.waits, until); !known {
				r.waits = slices.Insert(r.waits, i, until)
			}
		}
	}
	return out
}

// carries is the length of the list with a message.
func (r *reduce) carries(p int, kind reduction.Kind) int {
	switch kind {
	case reduction.KindPart, reduction.KindTorn:
		return int(r.parts[p].length)
	case reduction.KindMend:
		return int(r.parts[0].length)
	case reduction.KindRest:
		return int(r.rests[p].length)
	}
	return 0
}

// close completes a process's part.
func (r *reduce) close(p int) {
	part := &r.parts[p]
	r.giveUp(part, p, reduction.KindPart)
	if r.config.Idempotent {
		r.copies[p] = r.states[p].Copies()
		for held := r.copies[p]; held != 0; held &= held - 1 {
			origin := r.config.Origin(p, bits.TrailingZeros64(held))
			r.combine(part, carried{value: r.valueOf(origin), first: none})
		}
	}
	if p != 0 {
		return
	}
	r.mended = r.states[0].Mending()
	for q := part.first; q != none; q = r.next[q] {
		r.silent.Add(int(q))
	}
	for q := 1; q < len(r.cutOff); q++ { // a parent comes before its children
		r.cutOff[q] = r.silent.Has(q) || r.cutOff[r.config.Tree.Parent(q)]
	}
}

// take completes a process's rest, or the root's result.
func (r *reduce) take(p int) {
	s, rest := &r.states[p], &r.rests[p]
	if !r.mended {
		return
	}
	r.giveUp(rest, p, reduction.KindRest)
	for held := s.Copies(); held != 0; held &= held - 1 {
		origin := r.config.Origin(p, bits.TrailingZeros64(held))
		if !r.cutOff[origin] {
			continue
		}
		if taker, ok := r.config.Taker(origin, r.isCutOff); ok && taker == p {
			r.taker[origin] = int32(p)
			r.combine(rest, carried{value: r.valueOf(origin), count: 1, first: none})
		}
	}
}

func (r *reduce) isCutOff(p int) bool { return r.cutOff[p] }

func (r *reduce) Deadline(now proto.Time) proto.Time {
	for len(r.waits) > 0 && r.waits[0] <= now {
		r.waits = slices.Delete(r.waits, 0, 1)
	}
	if len(r.waits) > 0 {
		return r.waits[0]
	}
	return proto.Never
}

func (r *reduce) KindName(kind uint8) string { return reduction.Kind(kind).String() }

// arrived are the processes whose messages of a kind have reached the root.
func (r *reduce) arrived(bit uint8) Set {
	s := NewSet(len(r.states))
	s.Add(0)
	for p := 1; p < len(r.states); p++ {
		if r.climbed[p]&bit != 0 && s.Has(r.config.Tree.Parent(p)) {
			s.Add(p)
		}
	}
	return s
}

// included are the processes whose contributions are in the result, followed hop by hop.
func (r *reduce) included() Set {
	parts, rests := r.arrived(partClimbed), r.arrived(restClimbed)
	s := NewSet(len(r.states))
	for p := range r.states {
		held := r.taker[p] != none && rests.Has(int(r.taker[p]))
		for i := 0; r.config.Idempotent && i < r.config.Neighbours(); i++ {
			n := r.config.Neighbour(p, i)
			held = held || parts.Has(n) && r.copies[n]>>i&1 != 0
		}
		if held || parts.Has(p) {
			s.Add(p)
		}
	}
	return s
}

// named are the contributions that the root knows, by its lists alone, to be missing. Their
// processes are cut off, and either no process was to take their copies, or the one that was is
// silent.
func (r *reduce) named() Set {
	late, named := NewSet(len(r.states)), NewSet(len(r.states))
	for q := r.rests[0].first; q != none; q = r.next[q] {
		late.Add(int(q))
	}
	for p, cutOff := range r.cutOff {
		if !cutOff {
			continue
		}
		taker, ok := r.config.Taker(p, r.isCutOff)
		switch {
		case !ok, !r.config.Idempotent && !r.mended, r.config.CutOff(taker, late.Has):
			named.Add(p)
		}
	}
	return named
}
