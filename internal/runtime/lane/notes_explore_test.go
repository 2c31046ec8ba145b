package lane

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"banyan/internal/testing/explore"
)

// noting is all that takes part in the matching of a process that C and Go receive for, one turn
// with the lock at a time (Go ends its turns by giving notes back): two sources with their rings,
// two threads of the program, each of which takes every step in C or in Go, and the progress
// thread. Each thread has a context of its own, so what it must receive depends on nothing but its
// program.
type noting struct {
	*script
	mistake    mistake
	sent, read [sources]int8 // messages that are in the rings, and that were read
	unexpected []int8        // messages, as they came
	receives   []receive     // as they were started
	posted     []int8        // of them, those that Go has posted, as it did
	threads    [threads]struct {
		at      int8
		started bool // a receive in Go, of the operation at
	}
}

const (
	sources = 2
	threads = 2
	anyTag  = -1
)

type mistake int

const (
	none      mistake = iota
	overtakes         // Go posts a receive before the notes
	reads             // Go reads the rings while notes wait
	blind             // C makes notes although messages are unexpected
	youngest          // C gives a message to the youngest note that it fits
	partial           // Go gives notes back although another receive is posted
)

// script is what is sent and what is received.
type script struct {
	messages [sources][]message
	programs [threads][]operation
	want     [threads][]int8 // messages, by operation
}

type message struct{ id, context, tag int8 }

type operation struct {
	kind        opKind
	source, tag int8
	of          int8 // what a wait is for: an operation
}

type opKind int8

const (
	irecv opKind = iota
	recv
	wait
	probe
)

type receive struct {
	context, op, source, tag int8
	state                    int8 // as of a Note
	got                      int8
}

func (r *receive) fits(source int, m message) bool {
	return int(r.source) == source && r.context == m.context && (r.tag == m.tag || r.tag == anyTag)
}

const (
	publishes = 0 // and the source's number
	polls     = sources
	inTurn    = sources + 1 // and twice the thread's number, and 1 if it goes by Go
)

func (n *noting) Events(dst []int) []int {
	unread := false
	for s := range sources {
		if int(n.sent[s]) < len(n.messages[s]) {
			dst = append(dst, publishes+s)
		}
		unread = unread || n.read[s] < n.sent[s]
	}
	if unread {
		dst = append(dst, polls)
	}
	for t := range threads {
		if int(n.threads[t].at) == len(n.programs[t]) {
			continue
		}
		if !n.threads[t].started {
			dst = append(dst, inTurn+2*t)
		}
		dst = append(dst, inTurn+2*t+1)
	}
	return dst
}

func (n *noting) Apply(event int) error {
	switch {
	case event < polls:
		n.sent[event]++
		return nil
	case event == polls:
		n.poll()
		n.giveBack()
		return nil
	case (event-inTurn)%2 == 0:
		return n.c((event - inTurn) / 2)
	}
	err := n.goes((event - inTurn) / 2)
	n.giveBack()
	return err
}

// Go's side.

func (n *noting) post() {
	for i := range n.receives {
		if n.receives[i].state == waits {
			n.match(i)
		}
	}
}

func (n *noting) match(i int) {
	r := &n.receives[i]
	for i, id := range n.unexpected {
		if s, m := n.message(id); r.fits(s, m) {
			r.state, r.got = received, id
			n.unexpected = append(n.unexpected[:i], n.unexpected[i+1:]...)
			return
		}
	}
	r.state = posted
	n.posted = append(n.posted, int8(i))
}

func (n *noting) poll() {
	if n.mistake != reads {
		n.post()
	}
	for s := range sources {
	frames:
		for ; n.read[s] < n.sent[s]; n.read[s]++ {
			m := n.messages[s][n.read[s]]
			for i, of := range n.posted {
				if r := &n.receives[of]; r.fits(s, m) {
					r.state, r.got = received, m.id
					n.posted = append(n.posted[:i], n.posted[i+1:]...)
					continue frames
				}
			}
			n.unexpected = append(n.unexpected, m.id)
		}
	}
}

// giveBack ends Go's turn with the lock. What MPI_Irecv has started has a note, be it C or Go that
// has started it.
func (n *noting) giveBack() {
	for _, i := range n.posted {
		if r := &n.receives[i]; n.programs[r.context][r.op].kind != irecv && n.mistake != partial {
			return
		}
	}
	kept := n.posted[:0]
	for _, i := range n.posted {
		if r := &n.receives[i]; n.programs[r.context][r.op].kind == irecv {
			r.state = waits
		} else {
			kept = append(kept, i)
		}
	}
	n.posted = kept
}

func (n *noting) goes(t int) error {
	th := &n.threads[t]
	op := n.programs[t][th.at]
	if n.mistake != overtakes && n.mistake != reads {
		n.post()
	}
	switch op.kind {
	case irecv, recv:
		if !th.started {
			n.start(t, op)
			n.match(len(n.receives) - 1)
			th.started = op.kind == recv
			th.at += int8(1 - op.kind)
			return nil
		}
		n.poll()
		return n.ended(t, th.at)
	case wait:
		n.post()
		n.poll()
		return n.ended(t, op.of)
	}
	n.poll()
	want := receive{context: int8(t), source: op.source, tag: op.tag}
	for _, id := range n.unexpected {
		if s, m := n.message(id); want.fits(s, m) {
			return n.found(t, id)
		}
	}
	return nil
}

// C's side.

func (n *noting) c(t int) error {
	th := &n.threads[t]
	op := n.programs[t][th.at]
	if op.kind == wait {
		r := n.receive(t, op.of)
		for r.state == waits && n.fulfil(int(r.source)) {
		}
		return n.ended(t, op.of)
	}
	if len(n.posted) > 0 {
		return nil
	}
	if len(n.unexpected) > 0 && (n.mistake != blind || op.kind != irecv) {
		return nil
	}
	if op.kind == irecv {
		n.start(t, op)
		th.at++
		return nil
	}
	s := int(op.source)
	for n.fulfil(s) {
	}
	want := receive{context: int8(t), source: op.source, tag: op.tag}
	if n.read[s] == n.sent[s] || !want.fits(s, n.messages[s][n.read[s]]) {
		return nil
	}
	m := n.messages[s][n.read[s]]
	if op.kind == probe {
		return n.found(t, m.id)
	}
	n.read[s]++
	r := n.start(t, op)
	r.state, r.got = received, m.id
	return n.ended(t, th.at)
}

// fulfil receives the message at the head of a ring into a note.
func (n *noting) fulfil(s int) bool {
	if n.read[s] == n.sent[s] {
		return false
	}
	m := n.messages[s][n.read[s]]
	var to *receive
	for i := range n.receives {
		if r := &n.receives[i]; r.state == waits && r.fits(s, m) && (to == nil || n.mistake == youngest) {
			to = r
		}
	}
	if to == nil {
		return false
	}
	to.state, to.got = received, m.id
	n.read[s]++
	return true
}

// The program.

func (n *noting) start(t int, op operation) *receive {
	n.receives = append(n.receives, receive{context: int8(t), op: n.threads[t].at, source: op.source, tag: op.tag, state: waits})
	return &n.receives[len(n.receives)-1]
}

func (n *noting) receive(t int, op int8) *receive {
	for i := range n.receives {
		if r := &n.receives[i]; int(r.context) == t && r.op == op {
			return r
		}
	}
	panic("no such receive")
}

func (n *noting) message(id int8) (source int, m message) {
	for s := range sources {
		for _, m := range n.messages[s] {
			if m.id == id {
				return s, m
			}
		}
	}
	panic("no such message")
}

var errOther = errors.New("a receive has got another message")

// ended goes on if the receive of an operation has ended.
func (n *noting) ended(t int, op int8) error {
	r := n.receive(t, op)
	if r.state != received {
		return nil
	}
	n.threads[t].at++
	n.threads[t].started = false
	if want := n.want[t][op]; r.got != want {
		return fmt.Errorf("%w: thread %d, operation %d: %d instead of %d", errOther, t, op, r.got, want)
	}
	return nil
}

func (n *noting) found(t int, id int8) error {
	at := n.threads[t].at
	n.threads[t].at++
	if want := n.want[t][at]; id != want {
		return fmt.Errorf("%w: thread %d, operation %d: the probe finds %d instead of %d", errOther, t, at, id, want)
	}
	return nil
}

func (n *noting) End() error {
	if len(n.unexpected)+len(n.posted) > 0 {
		return fmt.Errorf("%v are unexpected and %v are posted in the end", n.unexpected, n.posted)
	}
	return nil
}

func (n *noting) Clone() *noting {
	c := &noting{}
	n.CopyInto(c)
	return c
}

func (n *noting) CopyInto(c *noting) {
	unexpected, receives, posted := append(c.unexpected[:0], n.unexpected...), append(c.receives[:0], n.receives...), append(c.posted[:0], n.posted...)
	*c = *n
	c.unexpected, c.receives, c.posted = unexpected, receives, posted
}

func (n *noting) AppendKey(dst []byte) []byte {
	for s := range sources {
		dst = append(dst, byte(n.sent[s]), byte(n.read[s]))
	}
	for _, t := range n.threads {
		dst = append(dst, byte(t.at)<<1)
		if t.started {
			dst[len(dst)-1]++
		}
	}
	for _, r := range n.receives {
		dst = append(dst, byte(r.context), byte(r.op), byte(r.state), byte(r.got))
	}
	dst = append(dst, 0xff)
	for _, id := range n.unexpected {
		dst = append(dst, byte(id))
	}
	dst = append(dst, 0xff)
	for _, i := range n.posted {
		dst = append(dst, byte(i))
	}
	return dst
}

// newScript makes a random script in which every receive gets a message and every message goes to a
// receive. Its outcome is that of a process which receives all messages before it receives any.
func newScript(r *rand.Rand, receives int) *script {
	for {
		s := &script{}
		id := int8(0)
		for t := range threads {
			for range receives {
				source := r.IntN(sources)
				m := message{id, int8(t), int8(r.IntN(2))}
				s.messages[source] = append(s.messages[source], m)
				id++
				op := operation{kind: opKind(r.IntN(2)), source: int8(source), tag: m.tag}
				if r.IntN(3) == 0 {
					op.tag = anyTag
				}
				s.programs[t] = append(s.programs[t], op)
			}
			r.Shuffle(receives, func(i, j int) { p := s.programs[t]; p[i], p[j] = p[j], p[i] })
			if r.IntN(2) == 0 { // probe before some receive
				i := r.IntN(receives)
				op := s.programs[t][i]
				op.kind = probe
				s.programs[t] = append(s.programs[t][:i], append([]operation{op}, s.programs[t][i:]...)...)
			}
			for i, op := range s.programs[t] { // in any order
				if op.kind == irecv {
					s.programs[t] = append(s.programs[t], operation{kind: wait, of: int8(i)})
				}
			}
			n := len(s.programs[t])
			i := n - 1
			for ; i >= 0 && s.programs[t][i].kind == wait; i-- {
			}
			waits := s.programs[t][i+1:]
			r.Shuffle(len(waits), func(a, b int) { waits[a], waits[b] = waits[b], waits[a] })
		}
		for source := range sources {
			m := s.messages[source]
			r.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
		}
		if s.outcome() {
			return s
		}
	}
}

// outcome finds what each operation has to get, and tells whether all get something.
func (s *script) outcome() bool {
	for t := range threads {
		taken := map[int8]bool{}
		s.want[t] = make([]int8, len(s.programs[t]))
	operations:
		for i, op := range s.programs[t] {
			if op.kind == wait {
				continue
			}
			for _, m := range s.messages[op.source] {
				want := receive{context: int8(t), source: op.source, tag: op.tag}
				if !taken[m.id] && want.fits(int(op.source), m) {
					s.want[t][i] = m.id
					taken[m.id] = op.kind != probe
					continue operations
				}
			}
			return false
		}
	}
	return true
}

// Whatever C and Go do in turn, in every interleaving, each receive and each probe gets the message
// that it would get if Go did it all.
func TestNotes(t *testing.T) {
	scripts, receives := 40, 3
	if explore.Long() {
		scripts, receives = 400, 4
	}
	states := 0
	for seed := range scripts {
		n := &noting{script: newScript(rand.New(rand.NewPCG(uint64(seed), 1)), receives)}
		stats, err := explore.All(n, 20_000_000)
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, n.script)
		}
		states += stats.States
	}
	t.Logf("%d states", states)
}

// The exploration finds each mistake that the rules of notes are there to avoid.
func TestNotesCanaries(t *testing.T) {
	for _, m := range []mistake{overtakes, reads, blind, youngest, partial} {
		found := false
		for seed := 0; seed < 40 && !found; seed++ {
			n := &noting{script: newScript(rand.New(rand.NewPCG(uint64(seed), 1)), 3), mistake: m}
			_, err := explore.All(n, 20_000_000)
			found = errors.Is(err, errOther)
		}
		if !found {
			t.Errorf("mistake %d isn't found", m)
		}
	}
}
