// Package tree decides which command starts which agents: a pure machine, whose driver is package
// starter.
//
// A few hosts get a command each. Of many, some are heads: a command starts the agent of a head,
// and hands it a branch, hosts whose agents that agent starts in turn. Where one command can start
// the agents of all hosts, as a step of Slurm does, it is used first.
//
//	Begin                      all agents get commands
//	Greeted                    a command's agent was heard; it gets its branch
//	Ready, Failed, Ended       what a command, or the head at its other end, says of agents
//	Late                       a command has had its time
//	Up                         an agent has dialled
//
// # Invariants
//
//   - What a head or a step doesn't bring up is started by a command of its own from here. So no
//     failure of one host keeps another one's agent from being started.
//   - An agent is lost only if its host refuses for good, or Attempts commands of its own have
//     failed, or it was ready and its command says that it has ended.
//   - An agent that is up or lost isn't started again.
//
// # Limits
//
// A branch that is taken back from a head that says nothing may be started twice. The launcher
// welcomes one agent of a number, and refuses the other.
package tree

import "slices"

// Rules say how agents are started.
type Rules struct {
	Together bool // one command can start the agents of several hosts
	Heads    bool // an agent can start others by the same command
	Attempts int  // how many commands of its own an agent gets
}

// Direct is up to how many agents get a command each, where they could have heads.
const Direct = 64

// Fan is how many heads there are then.
const Fan = 32

// Action is what the driver must do.
type Action struct {
	Kind   Kind
	Number int    // of the agent (Trouble, Lost)
	Why    string // (Trouble, Lost)

	Command int   // its number (Run)
	Of      []int // the agents that it starts by itself: one, or those of a step (Run)
	Try     int   // how many commands of its own the agent has had: the driver waits (Run)
}

// Kind is a kind of Action.
type Kind uint8

// The kinds of actions.
const (
	Run     Kind = iota + 1 // run a command
	Trouble                 // a command of an agent's own has failed, because of Why; it is started again
	Lost                    // an agent won't come, or has ended
)

// Machine is the state of all agents and commands.
type Machine struct {
	rules    Rules
	agents   map[int]*agent
	commands []*command
	actions  []Action
}

type agent struct {
	by    int // the command that is to start it, -1 for none
	ready int // the command that has said that it is ready, -1 for none
	tries int // commands of its own that have failed
	over  bool
	up    bool
}

type command struct {
	of, branch []int
	greeted    bool
}

// New makes a machine.
func New(rules Rules) *Machine { return &Machine{rules: rules, agents: make(map[int]*agent)} }

// Begin starts the agents of these numbers.
func (m *Machine) Begin(numbers []int) []Action {
	for _, n := range numbers {
		m.agents[n] = &agent{by: -1, ready: -1}
	}
	if m.rules.Together && len(numbers) > 1 {
		m.run(numbers, nil)
	} else {
		m.spread(numbers)
	}
	return m.take()
}

// spread starts agents by commands of their own, or by heads if there are many.
func (m *Machine) spread(numbers []int) {
	if !m.rules.Heads || len(numbers) <= Direct {
		for _, n := range numbers {
			m.run([]int{n}, nil)
		}
		return
	}
	for i := range Fan {
		// The parts differ by one at most.
		part := numbers[i*len(numbers)/Fan : (i+1)*len(numbers)/Fan]
		m.run(part[:1], part[1:])
	}
}

// run makes a command.
func (m *Machine) run(of, branch []int) {
	id := len(m.commands)
	c := &command{of: slices.Clone(of), branch: slices.Clone(branch)}
	m.commands = append(m.commands, c)
	for _, n := range slices.Concat(of, branch) {
		m.agents[n].by = id
	}
	m.actions = append(m.actions, Action{Kind: Run, Command: id, Of: c.of, Try: m.agents[of[0]].tries})
}

func (m *Machine) take() []Action {
	all := m.actions
	m.actions = nil
	return all
}

// Greeted says that an agent of a command waits for its orders. It returns the branch that the
// agent is to start, and whether there is still something to do for this command.
func (m *Machine) Greeted(id int) (branch []int, wanted bool) {
	c := m.commands[id]
	if c.greeted || len(m.waiting(id, c.of)) == 0 {
		return nil, false
	}
	c.greeted = true
	return m.waiting(id, c.branch), true
}

// waiting are those of some agents that a command still has to bring up.
func (m *Machine) waiting(id int, numbers []int) (left []int) {
	for _, n := range numbers {
		if a := m.agents[n]; a.by == id && a.ready < 0 && !a.up && !a.over {
			left = append(left, n)
		}
	}
	return left
}

// Ready says that the agent of a number is at work, by the word of a command.
func (m *Machine) Ready(id, number int) {
	if a := m.agents[number]; a != nil && a.ready < 0 {
		a.by, a.ready = id, id
	}
}

// Up says that the agent of a number has dialled.
func (m *Machine) Up(number int) {
	if a := m.agents[number]; a != nil {
		a.up = true
	}
}

// Failed says that a command, or the head that it has started, can't start an agent, or that the
// agent has ended. final says that its host refuses, and will do so again.
func (m *Machine) Failed(id, number int, why string, final bool) []Action {
	m.fail(id, number, why, final)
	return m.take()
}

func (m *Machine) fail(id, number int, why string, final bool) {
	a := m.agents[number]
	switch {
	case a == nil || a.over:
	case a.ready == id:
		m.lose(number, why)
	case a.by != id || a.up || a.ready >= 0: // another command has it, or has brought it up
	default:
		c := m.commands[id]
		own := len(c.of) == 1 && c.of[0] == number
		if own {
			a.tries++
		}
		switch {
		case final, a.tries >= m.rules.Attempts:
			m.lose(number, why)
			return
		case own: // what a head or a step can't do says nothing of the host
			m.actions = append(m.actions, Action{Kind: Trouble, Number: number, Why: why})
		}
		m.run([]int{number}, nil)
	}
}

func (m *Machine) lose(number int, why string) {
	m.agents[number].over = true
	m.actions = append(m.actions, Action{Kind: Lost, Number: number, Why: why})
}

// Ended says that a command has ended. why and final are as for Failed, for the agents that it
// starts by itself. Those of a branch that have begun go on without it.
func (m *Machine) Ended(id int, why string, final bool) []Action {
	c := m.commands[id]
	c.greeted = true
	branch := m.waiting(id, c.branch)
	m.spread(branch)
	for _, n := range c.of {
		m.fail(id, n, why, final && len(c.of) == 1) // a step as a whole may fail because of one host
	}
	return m.take()
}

// Late says that the time is over in which a command's agent had to be heard, or if it was heard
// the time to bring up the others. What isn't there is started in another way. A command that
// starts one agent by itself keeps that: its own limits end it.
func (m *Machine) Late(id int) []Action {
	c := m.commands[id]
	late := m.waiting(id, c.branch)
	if len(c.of) > 1 {
		late = append(late, m.waiting(id, c.of)...)
	}
	m.spread(late)
	return m.take()
}
