package causal

import (
	"fmt"
	"math/rand/v2"
)

// This is a model of replicated jobs whose ranks have several threads, to try rules by which a
// message may be held back until its cause has been here. A rule may lose a cause, so that a
// receive from any source takes a message that it takes in no job without replicas; and it may
// hang. (Decision 76.)

// operation is what a thread does next.
type operation struct {
	kind    byte // 's'end, 'r'eceive, 'w'ait for another thread of the rank
	context int
	peer    int  // the destination; the source, or any; the thread that is waited for
	label   byte // of a message; of a receive: what it may take is judged by it
	past    int  // of a wait: how many operations the other thread has done
}

const anySource = -1

func send(context, to int, label byte) operation {
	return operation{kind: 's', context: context, peer: to, label: label}
}

func receive(context, from int, label byte) operation {
	return operation{kind: 'r', context: context, peer: from, label: label}
}

func after(thread, past int) operation { return operation{kind: 'w', peer: thread, past: past} }

// program is, by rank and thread, what is done. All sends of a channel are by one thread.
type program [][][]operation

// coordinate numbers what a rule counts.
type coordinate struct{ context, from, to int }

// rule says what a clock counts, whose clock it is, and for which receives a message waits.
type rule struct {
	counts func(c coordinate) coordinate
	// clock names, within a process, the clock of an operation of a thread.
	clock func(thread int, o operation) int
	// waits tells whether a receive of a process waits for a message's cause.
	waits func(p *modelProcess, o operation) bool
	// refuses tells whether a receive from any source ends the job at a process.
	refuses func(p *modelProcess) bool
	// marks has messages say that their stamps mean nothing: those that threads send where layers
	// have mixed, and all that depend on these. Nobody waits for their causes.
	marks bool
}

func always(*modelProcess, operation) bool        { return true }
func never(*modelProcess, operation) bool         { return false }
func anonymous(_ *modelProcess, o operation) bool { return o.peer == anySource }
func alone(p *modelProcess, _ operation) bool     { return len(p.done) == 1 }

func nowhere(*modelProcess) bool          { return false }
func whereMixed(p *modelProcess) bool     { return p.mixed }
func inMixedThreads(p *modelProcess) bool { return p.mixed && len(p.done) > 1 }
func whereLost(p *modelProcess) bool      { return p.lost || inMixedThreads(p) }

func exactly(c coordinate) coordinate { return c }
func ofRank(c coordinate) coordinate  { return coordinate{from: c.from} }

func ofCommunicator(c coordinate) coordinate { return coordinate{context: c.context, from: c.from} }

func process(int, operation) int          { return 0 }
func thread(thread int, _ operation) int  { return thread }
func communicator(_ int, o operation) int { return o.context }

var rules = map[string]rule{
	// What this package does, which is right for programs of one thread.
	"one count": {ofRank, process, always, nowhere, false},
	// The same, but a receive that names its source waits for nothing.
	"one count, named sources don't wait": {ofRank, process, anonymous, nowhere, false},
	"a clock for each communicator":       {ofCommunicator, communicator, always, nowhere, false},
	"a clock for each thread":             {exactly, thread, always, nowhere, false},
	"a count for each channel":            {exactly, process, always, nowhere, false},

	"a count for each channel, named sources don't wait": {exactly, process, anonymous, nowhere, false},

	// No message waits, and a receive from any source ends the job where layers have mixed.
	"refuse any source": {exactly, process, never, whereMixed, false},
	// Only processes of several threads do so; the others wait for causes.
	"threads refuse any source": {ofRank, process, alone, inMixedThreads, false},
	// What is built: the others don't believe what follows from such threads, and refuse, too.
	"threads lose causes": {ofRank, process, alone, whereLost, true},
}

type clock map[coordinate]int

func (c clock) merge(other clock) {
	for k, n := range other {
		c[k] = max(c[k], n)
	}
}

func (c clock) copied() clock {
	d := clock{}
	d.merge(c)
	return d
}

type modelMessage struct {
	coordinate
	number int
	label  byte
	stamp  clock
	layer  int // of the process that sent it
	mixed  bool
	lost   bool // its stamp means nothing
}

type modelProcess struct {
	rank, layer int
	dead, mixed bool
	lost        bool  // what precedes it isn't known
	done        []int // by thread
	sent        map[coordinate]int
	counted     clock          // its sends as the rule counts them
	kept        []modelMessage // all that it has sent
	clocks      map[int]clock
	arrived     map[coordinate]int
	waiting     []modelMessage
}

type model struct {
	program   program
	rule      rule
	rng       *rand.Rand
	processes [][]*modelProcess // by layer and rank
	legal     map[string]bool   // "rank thread operation label"; nil: they are collected
	taken     map[string]bool
	lost      string
	refused   bool
}

func newModel(p program, r rule, layers int, rng *rand.Rand) *model {
	m := &model{program: p, rule: r, rng: rng, taken: map[string]bool{}}
	for layer := range layers {
		var all []*modelProcess
		for rank := range p {
			all = append(all, &modelProcess{
				rank: rank, layer: layer, done: make([]int, len(p[rank])), sent: map[coordinate]int{},
				counted: clock{}, clocks: map[int]clock{}, arrived: map[coordinate]int{},
			})
		}
		m.processes = append(m.processes, all)
	}
	return m
}

// covers tells whether a process sends to a layer: to its own, and to one whose replica of its rank
// is dead if it is the lowest that lives.
func (m *model) covers(p *modelProcess, layer int) bool {
	if !m.processes[layer][p.rank].dead {
		return layer == p.layer
	}
	for l := range m.processes {
		if !m.processes[l][p.rank].dead {
			return l == p.layer
		}
	}
	return false
}

// bring has a process get what another one sends to it. Messages of a channel come in their order.
func (m *model) bring(to *modelProcess, msg modelMessage) {
	if to.dead || msg.number != to.arrived[msg.coordinate]+1 {
		return
	}
	to.arrived[msg.coordinate]++
	to.mixed = to.mixed || msg.mixed || msg.layer != to.layer
	to.lost = to.lost || msg.lost
	to.waiting = append(to.waiting, msg)
}

// transfer has a process send, to the layers that it covers, what hasn't come there.
func (m *model) transfer(p *modelProcess) {
	for layer := range m.processes {
		if !m.covers(p, layer) {
			continue
		}
		for _, msg := range p.kept {
			msg.mixed, msg.lost = p.mixed, m.rule.marks && whereLost(p)
			m.bring(m.processes[layer][msg.to], msg)
		}
	}
}

func (m *model) kill(p *modelProcess) {
	p.dead = true
	for _, layer := range m.processes {
		if q := layer[p.rank]; !q.dead {
			m.transfer(q)
		}
	}
}

func (p *modelProcess) clock(i int) clock {
	if p.clocks[i] == nil {
		p.clocks[i] = clock{}
	}
	return p.clocks[i]
}

func (m *model) ready(p *modelProcess, msg modelMessage) bool {
	if msg.lost {
		return true
	}
	for k, n := range msg.stamp {
		if k.from == p.rank && n > p.counted[k] {
			return false
		}
	}
	return true
}

// step has a thread do its next operation, if it can.
func (m *model) step(p *modelProcess, thread int) bool {
	at := p.done[thread]
	if p.dead || at == len(m.program[p.rank][thread]) {
		return false
	}
	o := m.program[p.rank][thread][at]
	switch o.kind {
	case 'w':
		if p.done[o.peer] < o.past {
			return false
		}
	case 's':
		c := coordinate{o.context, p.rank, o.peer}
		p.sent[c]++
		own := m.rule.counts(c)
		p.counted[own]++
		mine := p.clock(m.rule.clock(thread, o))
		mine[own] = max(mine[own], p.counted[own])
		p.kept = append(p.kept, modelMessage{coordinate: c, number: p.sent[c], label: o.label, stamp: mine.copied(), layer: p.layer})
		m.transfer(p)
	case 'r':
		if o.peer == anySource && m.rule.refuses(p) {
			m.refused = true
			return false
		}
		i := m.find(p, o)
		if i < 0 {
			return false
		}
		msg := p.waiting[i]
		p.waiting = append(p.waiting[:i:i], p.waiting[i+1:]...)
		p.clock(m.rule.clock(thread, o)).merge(msg.stamp)
		what := fmt.Sprintf("operation %d of thread %d of rank %d takes %c", at, thread, p.rank, msg.label)
		if m.taken[what] = true; m.legal != nil && !m.legal[what] {
			m.lost = what
		}
	}
	p.done[thread]++
	return true
}

// find is a message that a receive takes: messages of different senders may have come in any order.
func (m *model) find(p *modelProcess, o operation) int {
	behind, found := map[coordinate]bool{}, []int(nil)
	for i, msg := range p.waiting {
		if msg.context != o.context || o.peer != anySource && msg.from != o.peer {
			continue
		}
		if !behind[msg.coordinate] && (!m.rule.waits(p, o) || m.ready(p, msg)) {
			found = append(found, i)
		}
		behind[msg.coordinate] = true
	}
	if len(found) == 0 {
		return -1
	}
	return found[m.rng.IntN(len(found))]
}

// run goes on until nothing moves, with a schedule that favours some processes, and kills some.
func (m *model) run(deaths int) (ended bool) {
	type actor struct {
		p      *modelProcess
		thread int
		weight int
	}
	var actors []actor
	for _, layer := range m.processes {
		for _, p := range layer {
			for thread := range p.done {
				actors = append(actors, actor{p, thread, 1 + m.rng.IntN(30)*m.rng.IntN(2)})
			}
		}
	}
	for idle := 0; idle < len(actors)*3; {
		if m.lost != "" || m.refused {
			return false
		}
		if deaths > 0 && m.rng.IntN(12) == 0 {
			deaths--
			if p := m.processes[m.rng.IntN(len(m.processes))][m.rng.IntN(len(m.program))]; m.expendable(p) {
				m.kill(p)
			}
		}
		a := actors[m.rng.IntN(len(actors))]
		if m.rng.IntN(30) > a.weight && idle == 0 {
			continue
		}
		if m.step(a.p, a.thread) {
			idle = 0
			continue
		}
		if idle++; idle == len(actors)*3 { // certainly nobody?
			for _, a := range actors {
				if m.step(a.p, a.thread) {
					idle = 0
				}
			}
		}
	}
	for _, a := range actors {
		if !a.p.dead && a.p.done[a.thread] < len(m.program[a.p.rank][a.thread]) {
			return false
		}
	}
	return true
}

func (m *model) expendable(p *modelProcess) bool {
	live := 0
	for _, layer := range m.processes {
		if !layer[p.rank].dead {
			live++
		}
	}
	return !p.dead && live > 1
}
