package comm

// Stage is a part of a collective operation whose messages depend on what was received before: the
// sizes of later messages, say. A stage adds steps, and at most one more stage behind them.
//
// All members must decide alike, from data that all have, which messages they exchange.
type Stage struct{ p *Plan }

// Staged is a collective that begins with one stage. Stages run without the engine's lock, and may
// read and write files: neither messages nor heartbeats wait for them. A panic of a stage isn't
// caught.
func (c *Comm) Staged(op string, first func(Stage)) *Plan {
	p := c.plan(op)
	Stage{p}.Then(first)
	return p
}

// Size is the number of members.
func (s Stage) Size() int { return s.p.size() }

// Rank is this member.
func (s Stage) Rank() int { return s.p.rank() }

// Scratch gives n bytes, which belong to the operation until it has ended.
func (s Stage) Scratch(n int) []byte { return s.p.scratch(n) }

// Send sends data to another member. The data must not change before the operation has ended.
func (s Stage) Send(to int, data []byte) { s.p.send(to, data) }

// Receive receives as much from another member as the buffer holds.
func (s Stage) Receive(from int, buffer []byte) { s.p.receive(from, buffer) }

// Started is the number of sends and receives so far, for WaitFor.
func (s Stage) Started() int { return s.p.s.Started() }

// WaitFor waits until the first n sends and receives have ended.
func (s Stage) WaitFor(n int) { s.p.s.WaitFor(n) }

// Wait waits until all sends and receives so far have ended.
func (s Stage) Wait() { s.p.wait() }

// Allgather leaves the data of all members in recv, in rank order.
func (s Stage) Allgather(send, recv []byte) {
	s.p.allgatherSteps(send, recv)
	s.p.wait()
}

// Then adds a stage behind the steps so far.
func (s Stage) Then(next func(Stage)) { s.p.s.Work(func() { next(s) }) }

// Local adds work that may block and adds no steps. Further steps may follow.
func (s Stage) Local(work func()) { s.p.s.Work(work) }
