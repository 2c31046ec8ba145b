package comm

import (
	"sync"
	"sync/atomic"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// Plan is a collective operation with its arguments. It is carried out in one of three ways:
//
//   - Run: now, and wait for the end (MPI_Allreduce);
//   - Start: now, in the background (MPI_Iallreduce);
//   - Keep, then Start any number of times, one at a time, and Free (MPI_Allreduce_init).
//
// Every plan is used in one way. After Run and Start it belongs to the communicator again. The
// first of these calls reports wrong arguments.
//
// The sizes and the members alone decide which messages a plan sends; see engine.Schedule. Its
// algorithm is chosen when the plan is made.
type Plan struct {
	comm  *Comm
	op    string
	err   error // of the arguments
	s     engine.Schedule
	kept  bool   // Keep was called
	own   uint64 // with Keep and replicas: a context of its own
	given given
	small small // what it does, if its steps haven't been made
	// It survives failures, if the program waits for it (resilient.go).
	resilient bool
	slots     [2][]int
}

// Op is a reduction's operator.
type Op struct {
	engine.Combiner
	// Size is the length of an element in the buffers, in bytes. Data is cut between elements only.
	Size int
	// Foreign says that the combiner is the program's own code. Such code runs only while the
	// program is inside a call, and may call the library.
	Foreign bool
}

// Func makes a function a Combiner.
type Func func(left, right []byte)

// Combine calls the function.
func (f Func) Combine(left, right []byte) { f(left, right) }

// Operation is a plan that was started.
type Operation struct {
	comm   *Comm
	op     string
	handle engine.Handle
}

// Handle is the engine's handle of the operation, as sends and receives have one. A caller may wait
// for several together.
func (o Operation) Handle() engine.Handle { return o.handle }

// Pending is the operation as one that may be waited for with others.
func (o Operation) Pending() Pending { return Pending{comm: o.comm, handle: o.handle, op: o.op} }

// Wait waits for the end of the operation.
func (o Operation) Wait() error {
	if o.comm == nil {
		return nil
	}
	_, err := o.comm.eng.Wait(o.handle)
	return o.Outcome(err)
}

// Outcome adds the name of the operation to an error of the engine.
func (o Operation) Outcome(err error) error { return o.comm.wrap(o.op, err) }

// plans is what a communicator knows of its plans.
type plans struct {
	sync.Mutex
	idle atomic.Pointer[Plan] // the free plan to take first
	free []*Plan
	runs atomic.Uint32 // begun by Run and Start: the tag
	kept int32         // made by Keep

	// stream lets broadcasts over corrected trees follow each other, in the order of their starts.
	stream engine.Lane
	// background are the contexts of the operations that Start starts in a replicated job.
	background [backgroundLanes]struct {
		engine.Lane
		open bool
	}
	started uint64
	spread  bool // the context of spread data is open
}

// backgroundLanes is how many operations of Start may be under way at a time in one communicator of
// a replicated job; further ones wait. At all replicas a process must send the same sequence of
// messages to another in one context. So operations that run at the same time have different
// contexts, assigned in the order of their starts, and operations that share a context follow each
// other.
const backgroundLanes = 8

const keptTag = 1 << 30 // kept plans have tags from here on

// plan begins a plan without any steps.
func (c *Comm) plan(op string) *Plan {
	p := c.plans.idle.Swap(nil)
	if p == nil {
		p = c.plans.take()
	}
	if p == nil {
		p = &Plan{comm: c}
		p.s.Released = p.release
	}
	p.op, p.s.Name, p.err = op, op, nil
	p.gives(engine.NoPeer)
	return p
}

// release gives a plan back for the next operation.
func (p *Plan) release() {
	p.s.Clear()
	p.s.Lane = nil
	if p.small.kind != notSmall {
		p.small, p.resilient = small{}, false
	}
	if l := &p.comm.plans; !l.idle.CompareAndSwap(nil, p) {
		l.Lock()
		l.free = append(l.free, p)
		l.Unlock()
	}
}

// take takes a free plan, nil if there is none.
func (l *plans) take() (p *Plan) {
	l.Lock()
	defer l.Unlock()
	if n := len(l.free); n > 0 {
		p, l.free = l.free[n-1], l.free[:n-1]
	}
	return p
}

// Run carries the plan out.
func (p *Plan) Run() error {
	c := p.comm
	if p.resilient && p.err == nil {
		return p.runResilient()
	}
	if p.err == nil {
		p.err = c.Usable() // a plan may have no steps
	}
	if p.err != nil {
		return p.discard()
	}
	if p.small.kind != notSmall {
		if done, err := p.share(); done {
			return err
		} else if p.err != nil {
			return p.discard()
		}
	}
	p.begins()
	// A plan without steps takes a tag, too: at other members it may have steps.
	if p.s.Tag = c.nextTag(); !p.s.Spreads {
		p.s.Context = c.context | collectivePart
	}
	if err := c.eng.Run(&p.s); err != nil {
		return c.wrap(p.op, err) // the engine may have closed in the middle of the plan: don't use it again
	}
	p.release()
	return nil
}

// discard ends a plan that isn't to be carried out.
func (p *Plan) discard() error {
	err := p.comm.wrap(p.op, p.err)
	p.release()
	return err
}

// Start starts the plan in the background. Until the operation ends, the memory of its arguments
// must stay, and the caller must not use what the operation changes.
func (p *Plan) Start() (Operation, error) {
	c := p.comm
	p.build()
	o := Operation{comm: c, op: p.op}
	if err := c.Usable(); err != nil && p.kept {
		return Operation{}, c.wrap(p.op, err)
	} else if p.err == nil {
		p.err = err
	}
	if p.err != nil {
		return Operation{}, p.discard()
	}
	p.begins()
	if !p.kept {
		if p.s.Tag = c.nextTag(); !p.s.Spreads {
			p.s.Context = c.context | collectivePart
		}
		if err := c.chooseLane(p); err != nil {
			p.err = err
			return Operation{}, p.discard()
		}
	}
	o.handle = c.eng.Start(&p.s)
	return o, nil
}

// skip is in place of Start where other members may have started the plan, and what comes of it is
// given up: plans that follow have the same numbers at all members.
func (p *Plan) skip() {
	p.build()
	c := p.comm
	if p.err == nil {
		c.nextTag()
		if c.copies {
			c.plans.Lock()
			c.plans.started++
			c.plans.Unlock()
		}
	}
	p.release()
}

// Keep makes the plan one that may be started again and again.
//
// The plan has a tag of its own, and with replicas a context of its own. So members may start kept
// plans in different orders.
func (p *Plan) Keep() error {
	p.build()
	c := p.comm
	if p.err == nil {
		p.err = c.Usable()
	}
	if p.err != nil {
		return p.discard()
	}
	c.plans.Lock()
	number := c.plans.kept
	c.plans.kept++
	c.plans.Unlock()
	p.kept = true
	p.s.Released = nil
	p.s.Context, p.s.Tag = c.context|collectivePart, keptTag|number
	if c.copies {
		p.own = c.branch(keptBranch | uint64(number))
		if err := c.eng.OpenContext(p.own, c.group, true); err != nil {
			return c.wrap(p.op, err)
		}
		p.s.Context = p.own
	}
	return nil
}

// Free gives up a kept plan that isn't under way.
func (p *Plan) Free() {
	if p.own != 0 {
		p.comm.eng.CloseContext(p.own)
	}
}

func (c *Comm) nextTag() int32 {
	return int32(c.plans.runs.Add(1) & (keptTag - 1))
}

// chooseLane gives a plan that is started the context in which it runs.
func (c *Comm) chooseLane(p *Plan) error {
	if !c.copies {
		return nil
	}
	c.plans.Lock()
	i := c.plans.started % backgroundLanes
	c.plans.started++
	l := &c.plans.background[i]
	wasOpen := l.open
	l.open = true
	c.plans.Unlock()
	p.s.Lane = &l.Lane
	p.s.Context = c.laneContext(int(i))
	if wasOpen {
		return nil
	}
	return c.eng.OpenContext(p.s.Context, c.group, true)
}

func (c *Comm) laneContext(i int) uint64 { return c.branch(laneBranch | uint64(i)) }

// branch is one of the communicator's further contexts for collectives.
func (c *Comm) branch(b uint64) uint64 {
	return branchOf(c.context, b) | collectivePart
}

// closeLanes closes the contexts that background operations have opened.
func (c *Comm) closeLanes() {
	for i := range c.plans.background {
		if c.plans.background[i].open {
			c.eng.CloseContext(c.laneContext(i))
		}
	}
	c.plans.Lock()
	defer c.plans.Unlock()
	if c.plans.spread {
		c.eng.CloseContext(c.branch(spreadBranch))
	}
	c.plans.spread = true // don't open it any more
}

// The steps, by ranks in the communicator.

func (p *Plan) size() int { return len(p.comm.group) }
func (p *Plan) rank() int { return p.comm.rank }

func (p *Plan) send(to int, data []byte)        { p.s.Send(p.world(to), data) }
func (p *Plan) receive(from int, buffer []byte) { p.s.Receive(p.world(from), buffer) }
func (p *Plan) wait()                           { p.s.Wait() }
func (p *Plan) copy(to, from []byte)            { p.s.Copy(to, from) }
func (p *Plan) scratch(n int) []byte            { return p.s.Scratch(n) }

// exchange sends to one member and receives from another at once. The send comes first, since its
// receiver may be waiting.
func (p *Plan) exchange(to int, data []byte, from int, buffer []byte) {
	p.send(to, data)
	p.receive(from, buffer)
	p.wait()
}

// combine leaves left op right in left.
func (p *Plan) combine(op Op, left, right []byte) {
	p.s.Combine(op.Combiner, op.Foreign, left, right)
}

func (p *Plan) world(rank int) proto.Rank { return p.comm.group[rank] }

// numbers gives room for n numbers, at most twice in a plan.
func (p *Plan) numbers(i, n int) []int {
	if cap(p.slots[i]) < n {
		p.slots[i] = make([]int, n)
	}
	return p.slots[i][:n]
}

// Refused is a plan that can't be carried out: its first call returns the error.
func (c *Comm) Refused(op string, err error) *Plan { return c.plan(op).fail(err) }

// fail notes what is wrong with the arguments and returns the plan.
func (p *Plan) fail(err error) *Plan {
	if p.err == nil {
		p.err = err
	}
	return p
}

// checkRoot tells whether there is such a root.
func (c *Comm) checkRoot(root int) error {
	if root < 0 || root >= len(c.group) {
		return rankError(root, len(c.group))
	}
	return nil
}
