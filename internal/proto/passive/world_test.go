package passive

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// The explored world: rank 0 is a target, ranks from 1 on ask it to add something to its part and
// to tell what was there before. What a rank asks next depends on the answer. The target's program
// asks itself, too, and synchronises between. All ranks have two replicas.
//
// What lies below is as packages order and replica promise it: a message that has left a process
// reaches all replicas of its receiver that live, in order; decisions are told to the sibling, or
// lost if the leader dies before, and what a target sends waits until the sibling knows all
// decisions so far.
type world struct {
	asks    int // of each other rank
	deaths  int // that may still come
	script  string
	mistake mistake

	targets [2]target
	origins [][2]origin // by rank - 1
	// By rank, what has left: the first replica that sends it says what it is.
	asked, answered [][]int // of rank 0: what its program has shown the world
}

type mistake int

const (
	none       mistake = iota
	hasty              // answers leave before the sibling knows what they depend on
	unordered          // a replica that follows hears what comes
	anywhere           // a replica that follows synchronises as soon as its program comes to it
	overriding         // a replica that begins to lead decides anew what it has learnt
	together           // there is one copy: the program sees and changes what others access
)

// target is a replica of the target.
type target struct {
	dead    bool
	m       Machine
	log     int      // steps that it has done or learnt
	told    []Step   // decisions of the leader that are under way to this replica
	here    [][]int  // by rank, messages that have come; its own first
	done    []int    // by rank, how many of them were carried out
	public  int      // the part
	private int      // the program's copy
	changed bool     // others have changed the public one
	at      int      // in the script
	waits   bool     // the program waits for its own answer
	seen    int      // a hash of what the program has read
	outbox  []output // waits for the sibling
	sent    []int    // by rank, answers that have left or wait
}

type output struct {
	rank, value, after int
}

type origin struct {
	dead bool
	seen int // a hash of the answers
	sent int
	got  int
}

func newWorld(ranks, asks, deaths int, script string, m mistake) *world {
	w := &world{asks: asks, deaths: deaths, script: script, mistake: m, origins: make([][2]origin, ranks-1)}
	w.asked, w.answered = make([][]int, ranks), make([][]int, ranks)
	for i := range w.targets {
		t := &w.targets[i]
		t.here, t.done, t.sent = make([][]int, ranks), make([]int, ranks), make([]int, ranks)
	}
	for r := range w.origins {
		for i := range w.origins[r] {
			w.goOn(r, i)
		}
	}
	return w
}

// event is one step of one process.
type event struct {
	what string
	rank int // whose message, or of which rank the process is
	at   int // which replica
}

func (e event) String() string { return fmt.Sprintf("%s %d/%d", e.what, e.rank, e.at) }

func (w *world) leads(i int) bool { return i == 0 || w.targets[0].dead }

func (w *world) Events(dst []event) []event {
	for i := range w.targets {
		t := &w.targets[i]
		if t.dead {
			continue
		}
		if len(t.told) > 0 {
			dst = append(dst, event{"learn", 0, i})
		}
		for r := range t.here {
			if r > 0 && len(t.here[r]) < len(w.asked[r]) {
				dst = append(dst, event{"arrive", r, i})
			}
			if t.done[r] < len(t.here[r]) && w.mayHear(i, r) {
				dst = append(dst, event{"hear", r, i})
			}
		}
		if w.mayGoOn(i) {
			dst = append(dst, event{"program", 0, i})
		}
		if w.deaths > 0 && !w.targets[1-i].dead {
			dst = append(dst, event{"die", 0, i})
		}
	}
	for r := range w.origins {
		for i := range w.origins[r] {
			o := &w.origins[r][i]
			if o.dead {
				continue
			}
			if o.got < len(w.answered[r+1]) {
				dst = append(dst, event{"answer", r + 1, i})
			}
			if w.deaths > 0 && !w.origins[r][1-i].dead {
				dst = append(dst, event{"die", r + 1, i})
			}
		}
	}
	return dst
}

func (w *world) may(i int, s Step) bool {
	t := &w.targets[i]
	if w.mistake == overriding && i == 1 && w.leads(i) {
		return true
	}
	return t.m.May(s, w.leads(i))
}

func (w *world) mayHear(i, r int) bool {
	return w.mistake == unordered && !w.leads(i) || w.may(i, Step{Source: proto.Rank(r)})
}

// mayGoOn tells whether the program of a target's replica can do its next thing.
func (w *world) mayGoOn(i int) bool {
	t := &w.targets[i]
	if t.waits || t.at == len(w.script) {
		return false
	}
	return w.script[t.at] != 's' || w.mistake == anywhere && !w.leads(i) || w.may(i, Step{Own: true})
}

func (w *world) Apply(e event) error {
	switch t := &w.targets[e.at]; e.what {
	case "learn":
		t.m.Learn(t.told[0], 1)
		t.told = slices.Clone(t.told[1:])
		t.log++
	case "arrive":
		t.here[e.rank] = append(slices.Clone(t.here[e.rank]), w.asked[e.rank][len(t.here[e.rank])])
	case "hear":
		w.step(e.at, Step{Source: proto.Rank(e.rank)})
		if err := w.carryOut(e.at, e.rank); err != nil {
			return err
		}
	case "program":
		if err := w.program(e.at); err != nil {
			return err
		}
	case "answer":
		o := &w.origins[e.rank-1][e.at]
		o.seen = o.seen*31 + w.answered[e.rank][o.got] + 1
		o.got++
		if err := w.goOn(e.rank-1, e.at); err != nil {
			return err
		}
	case "die":
		w.deaths--
		if e.rank > 0 {
			w.origins[e.rank-1][e.at].dead = true
			break
		}
		*t = target{dead: true}
		if e.at == 0 {
			w.targets[1].told = nil // what was under way is lost
		}
	}
	return w.release()
}

// step does a step, and tells the sibling if it was decided here.
func (w *world) step(i int, s Step) {
	t := &w.targets[i]
	if next, known := t.m.Next(); known && next != s { // a mistake
		return
	}
	if !w.leads(i) {
		if _, known := t.m.Next(); !known {
			return // a mistake
		}
	}
	if t.m.Do(s) {
		t.log++
		if other := &w.targets[1-i]; !other.dead {
			other.told = append(slices.Clone(other.told), s)
		}
	}
}

// carryOut carries the next message of a rank out.
func (w *world) carryOut(i, r int) error {
	t := &w.targets[i]
	was := t.public
	t.public += t.here[r][t.done[r]]
	t.done[r]++
	t.changed = true
	if w.mistake == together {
		t.private = t.public
	}
	if r == 0 {
		t.waits = false
		t.seen = t.seen*31 + was
		return nil
	}
	t.outbox = append(slices.Clone(t.outbox), output{r, was, t.log})
	return nil
}

// program does the next thing of the target's program: it asks itself, synchronises, or changes
// its copy.
func (w *world) program(i int) error {
	t := &w.targets[i]
	what := w.script[t.at]
	t.at++
	switch what {
	case 'a':
		t.here[0] = append(slices.Clone(t.here[0]), 1000)
		t.waits = true
	case 'w': // between two steps only the program writes, or others do
		t.private += 7
		if w.mistake == together {
			t.public = t.private
		}
	case 's':
		w.step(i, Step{Own: true})
		if t.changed {
			t.private = t.public
		} else {
			t.public = t.private
		}
		t.changed = false
		t.seen = t.seen*31 + t.private
	case 'r':
		t.seen = t.seen*31 + t.private
		t.outbox = append(slices.Clone(t.outbox), output{0, t.seen, t.log})
	}
	return nil
}

// goOn has a replica of another rank ask what it can.
func (w *world) goOn(r, i int) error {
	o := &w.origins[r][i]
	for o.sent < w.asks && o.sent <= o.got {
		what := 1 + r + 10*(o.seen%7)
		if o.sent == len(w.asked[r+1]) {
			w.asked[r+1] = append(slices.Clone(w.asked[r+1]), what)
		}
		if o.sent++; w.asked[r+1][o.sent-1] != what {
			return fmt.Errorf("replica %d of rank %d asks something else", i, r+1)
		}
	}
	return nil
}

// release sends what waits for nothing any more.
func (w *world) release() error {
	for i := range w.targets {
		t, other := &w.targets[i], &w.targets[1-i]
		for !t.dead && len(t.outbox) > 0 {
			o := t.outbox[0]
			if w.mistake != hasty && !other.dead && other.log < o.after {
				break
			}
			t.outbox = slices.Clone(t.outbox[1:])
			if t.sent[o.rank] == len(w.answered[o.rank]) {
				w.answered[o.rank] = append(slices.Clone(w.answered[o.rank]), o.value)
			}
			if t.sent[o.rank]++; w.answered[o.rank][t.sent[o.rank]-1] != o.value {
				return fmt.Errorf("replica %d of the target answers rank %d something else", i, o.rank)
			}
		}
	}
	return nil
}

func (w *world) End() error {
	for i := range w.targets {
		t := &w.targets[i]
		if !t.dead && (t.at < len(w.script) || t.waits || len(t.outbox) > 0) {
			return fmt.Errorf("replica %d of the target waits for ever", i)
		}
		if other := &w.targets[1-i]; !t.dead && !other.dead && (t.public != other.public || t.private != other.private) {
			return fmt.Errorf("the replicas of the target have %d and %d", t.public, other.public)
		}
	}
	for r := range w.origins {
		for i, o := range w.origins[r] {
			if !o.dead && o.got < w.asks {
				return fmt.Errorf("replica %d of rank %d waits for ever", i, r+1)
			}
		}
	}
	return nil
}

func (w *world) Clone() *world {
	c := *w
	c.asked, c.answered, c.origins = slices.Clone(w.asked), slices.Clone(w.answered), slices.Clone(w.origins)
	for i := range c.targets {
		t := &c.targets[i]
		t.m.known = slices.Clone(t.m.known)
		t.here, t.done, t.sent = slices.Clone(t.here), slices.Clone(t.done), slices.Clone(t.sent)
	}
	return &c
}

func (w *world) AppendKey(dst []byte) []byte {
	for i := range w.targets {
		t := &w.targets[i]
		dst = fmt.Append(dst, t.dead, t.m.known[t.m.begin:], t.log, t.told, t.here, t.done, t.public, t.private, t.changed, t.at, t.waits, t.seen, t.outbox, t.sent)
	}
	return fmt.Append(dst, w.deaths, w.origins, w.asked, w.answered)
}
