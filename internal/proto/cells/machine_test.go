package cells

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/splitmix"
	"banyan/internal/testing/explore"
)

// step is a call that all members make.
type step struct {
	pattern Pattern
	root    int
	data    bool
}

var (
	everyone = step{pattern: All, data: true}
	barrier  = step{pattern: All}
	from0    = step{pattern: FromRoot, data: true}
	from1    = step{pattern: FromRoot, root: 1, data: true}
	to0      = step{pattern: ToRoot, data: true}
	to1      = step{pattern: ToRoot, root: 1, data: true}
	agree    = step{pattern: Agree, data: true}
)

// world is some members that make the same calls, and their memory. One access is an event; data
// is written and read in two halves.
type world struct {
	calls    []step
	deaths   int // that may still happen
	suspects bool
	rarely   bool // deaths, and sleeps, are rare among the events
	lanes    bool // members begin their calls in C
	events   int

	words, turns [][]uint64 // by member and cell
	data         [][][2]byte
	done, waits  []uint64
	sleepers     uint64
	members      []member
	// By call from the root: some member has heard, or has not and never will. By agreement: it is
	// decided at some member, or it isn't and never will be.
	heard, lost []bool
}

// member is one process.
type member struct {
	m                      *Machine
	calls                  int // begun
	through, dead, suspect bool
	woken                  bool
	half                   int
	read                   [][2]byte // by member
	told                   []bool    // knows of the death of
	lane                   lane
}

type event struct {
	kind string
	who  int
	of   int
}

func (e event) String() string {
	if e.kind == "learn" {
		return fmt.Sprintf("%d:learn%d", e.who, e.of)
	}
	return fmt.Sprintf("%d:%s", e.who, e.kind)
}

func newWorld(size, deaths int, suspects bool, broken fault, calls ...step) *world {
	const depth = 2
	w := &world{calls: calls, deaths: deaths, suspects: suspects, done: make([]uint64, size), waits: make([]uint64, size),
		heard: make([]bool, len(calls)), lost: make([]bool, len(calls))}
	for i := range size {
		w.words, w.turns = append(w.words, make([]uint64, depth)), append(w.turns, make([]uint64, depth))
		w.data = append(w.data, make([][2]byte, depth))
		m := New(i, size, depth)
		m.fault = broken
		w.members = append(w.members, member{m: m, read: make([][2]byte, size), told: make([]bool, size)})
		w.begin(i)
	}
	return w
}

func (w *world) begin(i int) {
	p := &w.members[i]
	if p.calls == len(w.calls) {
		p.through = true
		return
	}
	c := w.calls[p.calls]
	p.calls++
	clear(p.read)
	if !w.lanes || !p.enterLane(c) {
		p.m.Begin(c.pattern, c.root, uint64(c.pattern), c.data)
	}
}

func (w *world) Events(dst []event) []event {
	for i := range w.members {
		// The end of a call concerns nobody else.
		if p := &w.members[i]; !p.dead && !p.through && p.m.Next().Op == End {
			return append(dst, event{End.String(), i, 0})
		}
	}
	for i := range w.members {
		p := &w.members[i]
		if p.dead || p.through {
			continue
		}
		switch a := p.m.Next(); {
		case a.Op == Sleep && !p.woken:
		case p.lane.in && a.Op == AwaitWord && !w.moves(i, a):
			dst = append(dst, event{"leave", i, 0})
		case (a.Op == AwaitWord || a.Op == AwaitDone) && !w.moves(i, a):
			if !p.suspect { // its sleep is of no interest
				dst = append(dst, event{"doze", i, 0})
			}
		default:
			dst = append(dst, event{a.Op.String(), i, 0})
		}
		if w.deaths > 0 && (!w.rarely || w.events%40 == 39) {
			dst = append(dst, event{"die", i, 0})
			if w.suspects && !p.suspect {
				dst = append(dst, event{"suspect", i, 0})
			}
		}
	}
	for i := range w.members {
		for j := range w.members {
			if q := &w.members[j]; i != j && (q.dead || q.suspect) && !w.members[i].dead && !w.members[i].through && !w.members[i].told[j] {
				dst = append(dst, event{"learn", i, j})
			}
		}
	}
	return dst
}

// moves tells whether a look at what a member waits for lets it go on.
func (w *world) moves(i int, a Access) bool {
	m := *w.members[i].m
	return m.Result(w.load(a))
}

func (w *world) load(a Access) uint64 {
	if a.Op == AwaitDone {
		return w.done[a.Member]
	}
	return w.words[a.Member][a.Cell]
}

func (w *world) Apply(e event) error {
	w.events++
	p := &w.members[e.who]
	switch e.kind {
	case "die":
		p.dead = true
		w.deaths--
		return nil
	case "suspect":
		p.suspect = true
		w.deaths--
		return nil
	case "learn":
		p.told[e.of], p.woken = true, true
		p.gone(e.of)
		return nil
	case "leave":
		w.leaveLane(e.who)
		return nil
	case "doze":
		p.m.Doze()
		return nil
	}
	a := p.m.Next()
	value := uint64(0)
	switch a.Op {
	case End:
		return w.ended(e.who)
	case Claim:
		w.turns[a.Member][a.Cell] = a.Value
	case Write:
		w.data[a.Member][a.Cell][p.half] = given(p.m.Call(), e.who)
		if p.half = 1 - p.half; p.half == 1 {
			return nil
		}
	case Publish, Close:
		if w.words[a.Member][a.Cell] == a.Old {
			w.words[a.Member][a.Cell] = a.Value
			value = 1
		}
	case AwaitWord, AwaitDone:
		value = w.load(a)
	case Read:
		for j := range w.members {
			p.read[j][p.half] = w.data[j][a.Cell][p.half]
		}
		if p.half = 1 - p.half; p.half == 1 {
			return nil
		}
	case Check:
		value = w.turns[a.Member][a.Cell]
	case Finish:
		w.done[a.Member] = a.Value
	case Sleepers:
		value = w.sleepers
	case Waits:
		value = w.waits[a.Member]
	case Look:
		value = w.words[a.Member][a.Cell]
	case Notify:
		w.members[a.Member].woken = true
	case Announce:
		w.waits[a.Member] = a.Value
	case LieDown:
		w.sleepers |= a.Value
		p.woken = false
	case Sleep:
		p.woken = false
	case GetUp:
		w.sleepers &^= a.Value
	}
	if p.lane.in && !p.lane.goesOn(p.m, a, value) {
		w.leaveLane(e.who)
		return nil
	}
	p.m.Result(value)
	return nil
}

// given is what a member gives in a call.
func given(call uint64, member int) byte { return byte(call<<3 | uint64(member)) }

// ended holds the outcome of a member's call against the promises.
func (w *world) ended(i int) error {
	p := &w.members[i]
	c := w.calls[p.calls-1]
	o, culprit := p.m.Outcome()
	takes := c.pattern == All || c.pattern == Agree || (i == c.root) == (c.pattern == ToRoot)
	switch {
	case o == Mismatch:
		return fmt.Errorf("%d takes call %d for another one", i, p.calls)
	case o == Fenced && !p.suspect:
		return fmt.Errorf("%d is fenced in call %d, and nobody takes it for dead", i, p.calls)
	case o == Lost && !w.members[culprit].dead && !w.members[culprit].suspect:
		return fmt.Errorf("call %d is lost to %d, since %d is dead, which lives", p.calls, i, culprit)
	case (o == Lost || o == Fenced) && c.pattern == Agree, o == Undecided && (c.pattern != Agree || !w.members[culprit].dead && !w.members[culprit].suspect):
		return fmt.Errorf("call %d ends with %d at %d, because of %d", p.calls, o, i, culprit)
	case o == Lost && c.pattern == FromRoot && culprit != c.root:
		return fmt.Errorf("call %d is lost to %d, and its root lives", p.calls, i)
	case o == Done && takes && c.data:
		for j := range w.members {
			want := given(p.m.Call(), j)
			if j != i && (c.pattern != FromRoot || j == c.root) && p.read[j] != [2]byte{want, want} {
				return fmt.Errorf("in call %d %d reads %v from %d", p.calls, i, p.read[j], j)
			}
		}
	}
	if c.pattern == FromRoot && i != c.root || c.pattern == Agree {
		w.heard[p.calls-1] = w.heard[p.calls-1] || o == Done
		w.lost[p.calls-1] = w.lost[p.calls-1] || o == Lost || o == Undecided
		if w.heard[p.calls-1] && w.lost[p.calls-1] {
			return fmt.Errorf("some have heard from the root in call %d, and others never will", p.calls)
		}
	}
	if o == Fenced || o == Undecided {
		p.through = true
		return nil
	}
	w.begin(i)
	return nil
}

// End implements explore.World: nobody waits for ever, but a process that the others take for
// dead, which is told so in other ways.
func (w *world) End() error {
	for i := range w.members {
		if p := &w.members[i]; !p.dead && !p.through && !p.suspect {
			return fmt.Errorf("%d waits for ever in call %d: %v", i, p.calls, p.m.Next())
		}
	}
	return nil
}

func (w *world) Clone() *world {
	n := &world{}
	for range w.members {
		n.words, n.turns, n.data = append(n.words, nil), append(n.turns, nil), append(n.data, nil)
		n.members = append(n.members, member{m: new(Machine)})
	}
	w.CopyInto(n)
	return n
}

// CopyInto implements explore.Copier.
func (w *world) CopyInto(n *world) {
	n.calls, n.deaths, n.suspects, n.sleepers, n.lanes = w.calls, w.deaths, w.suspects, w.sleepers, w.lanes
	n.done, n.waits = append(n.done[:0], w.done...), append(n.waits[:0], w.waits...)
	n.heard, n.lost = append(n.heard[:0], w.heard...), append(n.lost[:0], w.lost...)
	for i := range w.members {
		n.words[i], n.turns[i] = append(n.words[i][:0], w.words[i]...), append(n.turns[i][:0], w.turns[i]...)
		n.data[i] = append(n.data[i][:0], w.data[i]...)
		from, to := &w.members[i], &n.members[i]
		m, read, told := to.m, to.read, to.told
		*to = *from
		*m = *from.m
		to.m, to.read, to.told = m, append(read[:0], from.read...), append(told[:0], from.told...)
	}
}

func (w *world) AppendKey(k []byte) []byte {
	word := func(v uint64) { k = append(k, byte(v>>NumberShift)<<1|byte(v&1)) }
	flags := func(bs ...bool) {
		v := byte(0)
		for _, b := range bs {
			v <<= 1
			if b {
				v |= 1
			}
		}
		k = append(k, v)
	}
	k = append(k, byte(w.deaths), byte(w.sleepers))
	flags(w.heard...)
	flags(w.lost...)
	for i := range w.members {
		for s := range w.words[i] {
			word(w.words[i][s])
			k = append(k, byte(w.turns[i][s]), w.data[i][s][0], w.data[i][s][1])
		}
		p := &w.members[i]
		m := p.m
		k = append(k, byte(w.done[i]), byte(w.waits[i]), byte(w.waits[i]>>56), byte(p.calls), byte(p.half))
		flags(p.through, p.dead, p.suspect, p.woken, m.lying, m.mismatch, m.dozing)
		flags(p.told...)
		k = append(k, byte(m.stage)<<1, byte(p.lane.gone))
		if p.lane.in {
			k[len(k)-2]++
		}
		if p.dead || p.through {
			continue
		}
		k = append(k, byte(m.floor), byte(m.at), byte(m.after), byte(m.member), byte(m.sleeper), byte(m.looked), byte(m.complete), byte(m.least), byte(m.bits), byte(m.outcome), byte(m.culprit))
		word(m.old)
		for s := range 2 {
			word(m.words[s])
		}
		for _, r := range p.read {
			k = append(k, r[0], r[1])
		}
	}
	return k
}

func (o Op) String() string {
	return strings.Fields("end claim write publish await-word await-done close read check finish sleepers waits look notify announce lie-down sleep get-up")[o]
}

// small are worlds of which every state is visited in each test run; large are those that take
// minutes.
var small, large = []trial{
	{2, 1, true, []step{everyone, everyone, everyone}},
	{2, 1, true, []step{from0, from0, from0, from0}},
	{2, 1, true, []step{to0, to0, to1, everyone}},
	{3, 0, false, []step{barrier}},
	{3, 1, true, []step{from0}},
	{2, 1, true, []step{agree, agree}},
	{3, 1, false, []step{agree}},
}, []trial{
	{2, 1, true, []step{agree, agree, agree, agree}},
	{3, 1, true, []step{agree}},
	{3, 2, true, []step{agree}},
	{3, 1, false, []step{agree, agree}},
	{3, 0, false, []step{barrier, barrier}},
	{2, 1, true, []step{barrier, from1, to0, from0, everyone, from0}},
	{3, 1, true, []step{from0, from0}},
	{3, 1, false, []step{from0, from1, from0}},
	{3, 1, false, []step{barrier, barrier}},
	{3, 2, false, []step{from0, from1}},
	{3, 1, false, []step{to0, from1}},
	{4, 1, false, []step{from0}},
}

type trial struct {
	size, deaths int
	suspects     bool
	calls        []step
}

func TestEverything(t *testing.T) {
	trials := small
	if explore.Long() {
		trials = append(trials, large...)
	}
	for i, c := range trials {
		name := fmt.Sprint(c.size, c.deaths, c.suspects, c.calls)
		stats, err := explore.All(newWorld(c.size, c.deaths, c.suspects, noFault, c.calls...), 200_000_000)
		t.Log(name, stats)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if (i == 2 || i == 4 || i == 6) && !explore.Long() {
			continue // it takes long
		}
		stats, err = explore.All(inLanes(newWorld(c.size, c.deaths, c.suspects, noFault, c.calls...)), 200_000_000)
		t.Log(name, "lanes", stats)
		if err != nil {
			t.Errorf("%s, in lanes: %v", name, err)
		}
	}
}

// More members and more calls than can be explored: random calls in random orders.
func TestRandom(t *testing.T) {
	runs := uint64(3000)
	if explore.Long() {
		runs = 1_000_000
	}
	kinds := []step{everyone, barrier, from0, from1, to0, to1}
	for seed := uint64(1); seed <= runs; seed++ {
		size := 2 + int(seed%3)
		var calls []step
		for i := uint64(0); i < 7; i++ {
			calls = append(calls, kinds[splitmix.Mix(seed<<3+i)%uint64(len(kinds))])
		}
		if seed%5 == 0 { // they have a memory of their own
			for i := range calls {
				calls[i] = agree
			}
		}
		w := newWorld(size, int(seed%3), seed%2 == 0, noFault, calls...)
		w.rarely = true
		if seed%4 == 3 {
			inLanes(w)
		}
		if err := explore.Random(w, seed, 100_000); err != nil {
			t.Fatal(err)
		}
	}
}

// Members that sleep in a call in which all hear from all are woken once each, by or by way of
// member 0, no matter which comes last; and to lie down wakes nobody.
func TestWakes(t *testing.T) {
	const size = 8
	for last := range size {
		w := newWorld(size, 0, false, noFault, barrier)
		woken := make([]int, size)
		run := func(i int) {
			for !w.members[i].through {
				switch a := w.members[i].m.Next(); {
				case a.Op == Sleep && !w.members[i].woken:
					return
				case a.Op == AwaitWord && !w.moves(i, a):
					w.Apply(event{"doze", i, 0})
				default:
					if a.Op == Notify {
						if woken[a.Member]++; i != 0 && a.Member != 0 {
							t.Errorf("%d wakes %d", i, a.Member)
						}
					}
					if err := w.Apply(event{a.Op.String(), i, 0}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for i := range size {
			if i != last {
				run(i)
			}
		}
		run(last)
		run(0) // the others have been woken by now, by it
		for i := range size {
			run(i)
			want := 1
			if i == last {
				want = 0
			}
			if woken[i] != want {
				t.Errorf("%d comes last: %d is woken %d times", last, i, woken[i])
			}
		}
		if err := w.End(); err != nil {
			t.Errorf("%d comes last: %v", last, err)
		}
	}
}

func TestCanaries(t *testing.T) {
	for _, f := range []fault{noClose, allAnyway} {
		if stats, err := explore.All(newWorld(3, 1, f == noClose, f, agree), 2_000_000); err == nil {
			t.Errorf("nobody notices fault %d in agreements, in %d states", f, stats.States)
		}
	}
	for f, c := range map[fault]trial{
		noRoom:           {2, 0, false, []step{from0, from0, from0}},
		noClose:          {3, 1, true, []step{from0}},
		noCheck:          {2, 1, true, []step{from0, from0, from0}},
		noSecondLook:     {2, 0, false, []step{barrier}},
		claimLate:        {2, 1, true, []step{from0, from0, from0}},
		lastIsQuiet:      {2, 0, false, []step{barrier}},
		firstIsForgotten: {2, 0, false, []step{barrier}},
		silentSleep:      {3, 1, true, []step{barrier, barrier, from0}},
	} {
		if c.size == 3 && len(c.calls) == 3 { // too many states
			var err error
			for seed := uint64(1); err == nil && seed <= 20_000; seed++ {
				w := newWorld(c.size, c.deaths, c.suspects, f, c.calls...)
				w.rarely = true
				err = explore.Random(w, seed, 100_000)
			}
			if err == nil {
				t.Errorf("nobody notices fault %d in random orders", f)
			}
			continue
		}
		stats, err := explore.All(newWorld(c.size, c.deaths, c.suspects, f, c.calls...), 2_000_000)
		if err == nil {
			t.Errorf("nobody notices fault %d in %d states", f, stats.States)
		}
	}
}
