package starter

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"banyan/internal/job/agent/secure"
	"banyan/internal/job/starter/tree"
)

// attempts is how many commands of its own a host gets.
const attempts = 3

// crowd is how many commands may wait for their followers at the same time.
const crowd = 2 * tree.Direct

const (
	// greetLimit is how long hosts wait for the head that is to start them.
	greetLimit = 5 * time.Second
	// branchLimit is how long a head, or a step, may take to bring up the others.
	branchLimit = 15 * time.Second
)

// Crew starts the agents of a job. The fields up to Agents must be set.
type Crew struct {
	How    How
	Self   string // the path of banyan here
	Order  Order  // without the fields from Agents on
	Key    secure.Key
	Agents []Agent // none twice

	// These are called by one goroutine at a time. nil: nobody wants to know.

	Greeted func(number int)             // the follower of an agent was heard
	Ready   func(number int)             // an agent begins
	Trouble func(number int, why error)  // an agent isn't there yet; it is started again
	Lost    func(number int, why error)  // an agent won't come, or has ended
	Line    func(number int, why string) // an agent has written a line to stderr; -1: it isn't known which

	attempts int // 0: attempts
	mu       sync.Mutex
	machine  *tree.Machine
	commands sync.WaitGroup
	room     chan struct{} // holds something for each command that waits for its follower
}

// Run starts the agents, and returns when all commands have ended. The end of ctx ends them.
func (c *Crew) Run(ctx context.Context) {
	numbers := make([]int, len(c.Agents))
	for i, a := range c.Agents {
		numbers[i] = a.Number
	}
	c.mu.Lock()
	if c.attempts == 0 {
		c.attempts = attempts
	}
	c.room = make(chan struct{}, crowd)
	c.begin()
	c.do(ctx, c.machine.Begin(numbers))
	c.mu.Unlock()
	c.commands.Wait()
}

// begin makes the machine. The lock is held.
func (c *Crew) begin() {
	if c.machine == nil {
		c.machine = tree.New(tree.Rules{Together: c.How.Together, Heads: c.How.Heads, Attempts: max(c.attempts, 1)})
	}
}

// Up says that the agent of a number has dialled.
func (c *Crew) Up(number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machine != nil {
		c.machine.Up(number)
	}
}

// do carries out what the machine says. The lock is held.
func (c *Crew) do(ctx context.Context, all []tree.Action) {
	for _, a := range all {
		switch a.Kind {
		case tree.Run:
			c.commands.Go(func() { c.run(ctx, a) })
		case tree.Trouble:
			tell(c.Trouble, a.Number, errors.New(a.Why))
		case tree.Lost:
			tell(c.Lost, a.Number, errors.New(a.Why))
		}
	}
}

func tell[T any](f func(int, T), number int, what T) {
	if f != nil {
		f(number, what)
	}
}

// run runs a command of the machine.
func (c *Crew) run(ctx context.Context, a tree.Action) {
	if !pause(ctx, time.Duration(a.Try)*(500*time.Millisecond+rand.N(500*time.Millisecond))) {
		return
	}
	select {
	case c.room <- struct{}{}:
	case <-ctx.Done():
		return
	}
	leave := sync.OnceFunc(func() { <-c.room })
	defer leave()
	limit := greetLimit
	if len(a.Of) > 1 {
		limit = branchLimit
	}
	late := time.AfterFunc(limit, func() { c.late(ctx, a.Command) })
	defer late.Stop()
	of := c.agents(a.Of)
	x := &command{how: c.How, self: c.Self, of: of, key: c.Key}
	x.order = func() (*Order, bool) {
		leave()
		c.mu.Lock()
		defer c.mu.Unlock()
		branch, wanted := c.machine.Greeted(a.Command)
		late.Reset(branchLimit)
		o := c.Order
		o.Build, o.Agents = secure.Build(), of
		if len(branch) > 0 {
			o.Branch, o.How, o.Self = c.agents(branch), c.How, c.Self
		}
		if c.Greeted != nil {
			for _, n := range a.Of {
				c.Greeted(n)
			}
		}
		return &o, wanted
	}
	x.heard = func(w word) { c.hear(ctx, a.Command, w) }
	x.spoken = func(number int, text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		tell(c.Line, number, text)
	}
	err, final := x.run(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil {
		c.do(ctx, c.machine.Ended(a.Command, err.Error(), final))
	}
}

func (c *Crew) late(ctx context.Context, id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil {
		c.do(ctx, c.machine.Late(id))
	}
}

// hear takes a word of a command.
func (c *Crew) hear(ctx context.Context, id int, w word) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch w.Kind {
	case ready:
		c.machine.Ready(id, w.Number)
		if c.Ready != nil {
			c.Ready(w.Number)
		}
	case failed:
		c.do(ctx, c.machine.Failed(id, w.Number, w.Text, w.Final))
	case line:
		tell(c.Line, w.Number, w.Text)
	}
}

// agents are those of some numbers.
func (c *Crew) agents(numbers []int) []Agent {
	wanted := make(map[int]bool)
	for _, n := range numbers {
		wanted[n] = true
	}
	var all []Agent
	for _, a := range c.Agents {
		if wanted[a.Number] {
			all = append(all, a)
		}
	}
	return all
}

// pause waits. It returns false if ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
