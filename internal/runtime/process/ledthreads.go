package process

import "banyan/internal/proto/passive"

// Threads in leader order. Each thread of the program has a log of its own: what its Questions are
// answered, and what its receives take. A thread is known by a ThreadID, which is the same in all
// replicas.
//
// What threads do on a communicator is ordered as well: the sends, the receives and the probes that
// find something. So messages get the same numbers, and receives are posted in the same order. The
// leader notes whose turn it was (Act); at a sibling a thread waits until it is its turn (MayAct).
//
// What threads tell each other through memory isn't ordered: who gets a lock of the program's first
// may differ from replica to replica.

// ThreadID names a thread: the first is 0, and the others' follow from who created them, and as
// which of its threads.
type ThreadID uint64

// ledThread is what is decided for a thread.
type ledThread struct {
	id      ThreadID
	index   uint64             // in ordered.threads
	script  answers            // those that the program hasn't come to
	posted  uint64             // how many receives got numbers
	matches map[uint64]matched // by number of the receive, what those take that haven't been posted
}

// turns are whose turns are next on a context, as far as that is known.
type turns struct {
	queue []turn
	begin int // the turns before are over
}

// turn says that a thread acts so many times.
type turn struct {
	thread ThreadID
	times  uint64
}

// Numbers of receives have the thread's index in front.
const threadShift = 40

// OrderThreads says, before the program communicates, that several threads of it will communicate
// at the same time, and that On is called before each call that it matters for.
func (p *Process) OrderThreads() { p.order.threaded = true }

// On says which thread makes the calls that follow.
func (p *Process) On(id ThreadID) {
	o := p.order
	if id != o.at.id {
		o.at = o.thread(id)
	}
}

// thread is what is decided for a thread.
func (o *ordered) thread(id ThreadID) *ledThread {
	t := o.byID[id]
	if t == nil {
		t = &ledThread{id: id, index: uint64(len(o.threads)), matches: map[uint64]matched{}}
		if o.through {
			t.script.add(theEnd, 0, 1)
		}
		o.threads = append(o.threads, t)
		o.byID[id] = t
	}
	return t
}

// MayAct tells whether it is the present thread's turn to act on a context.
func (p *Process) MayAct(context uint64) bool {
	o := p.order
	if p.hasTurn(context) {
		t := o.turns[context]
		return t.queue[t.begin].thread == o.at.id
	}
	return o.m.Leads()
}

// AnswerFound decides that a probe of the present thread has found a message. It is its turn from
// then on: another thread could take the message, if this process died in between.
func (p *Process) AnswerFound(context, word uint64) (passesOn bool) {
	if passesOn = p.hasTurn(context); passesOn {
		p.Act(context)
	} else {
		p.order.made.on(p.order.at.id)
		p.order.made.turn(context)
		p.noteTurn(context)
	}
	p.Answer(AskProbe, word)
	return passesOn
}

func (p *Process) hasTurn(context uint64) bool {
	t := p.order.turns[context]
	return t != nil && t.begin < len(t.queue)
}

// Act notes that the present thread acts on a context, which it MayAct on. It tells whether another
// thread may wait for the next turn.
func (p *Process) Act(context uint64) (passesOn bool) {
	o := p.order
	p.noteTurn(context)
	if p.hasTurn(context) {
		t := o.turns[context]
		if now := &t.queue[t.begin]; now.times > 1 {
			now.times--
		} else {
			t.begin++
		}
		return true
	}
	o.made.on(o.at.id)
	o.made.turn(context)
	p.tellSoon(false)
	return false
}

// add adds the turns that come next.
func (t *turns) add(id ThreadID, times uint64) {
	if t.begin > 0 && t.begin >= len(t.queue)/2 {
		t.queue = t.queue[:copy(t.queue, t.queue[t.begin:])]
		t.begin = 0
	}
	t.queue = append(t.queue, turn{id, times})
}

// hearing is a process that hears what its leader has decided.
type hearing struct {
	*Process
	now *ledThread // that it hears of
}

func (h *hearing) hearThread(id ThreadID) { h.now = h.order.thread(id) }

func (h *hearing) hearAnswer(q Question, word, times uint64) {
	h.now.script.add(q, word, times)
}

func (h *hearing) hearMatch(number uint64, m matched) {
	o := h.order
	whole := h.now.index<<threadShift | number
	for i := range o.held {
		if w := &o.held[i]; w.number == whole {
			w.decide(m)
			h.noteMatch(h.now, number, m)
			return
		}
	}
	h.now.matches[number] = m
}

func (h *hearing) hearTurns(context, times uint64) {
	o := h.order
	t := o.turns[context]
	if t == nil {
		t = &turns{}
		o.turns[context] = t
	}
	t.add(h.now.id, times)
}

func (h *hearing) hearStep(context uint64, s passive.Step, times uint64) {
	h.order.steps(context).Learn(s, times)
}

func (h *hearing) hearEnd() {
	h.order.through = true
	for _, t := range h.order.threads {
		t.script.add(theEnd, 0, 1)
	}
}

// number gives a receive that is decided its number, and says what it takes, if that is known.
func (p *Process) number(w *heldReceive) {
	t := p.order.at
	t.posted++
	w.number = t.index<<threadShift | t.posted
	if m, known := t.matches[t.posted]; known {
		delete(t.matches, t.posted)
		p.noteMatch(t, t.posted, m)
		w.decide(m)
	}
}
