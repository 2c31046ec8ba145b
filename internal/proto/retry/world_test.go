package retry

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"banyan/internal/proto"
)

// What a world can find.
var (
	errDiffers = errors.New("two live members have different results")
	errInvalid = errors.New("a result isn't what the contributors gave")
	errStuck   = errors.New("a live member waits for ever")
	errForever = errors.New("more tries than members")
)

// bug is what a driver or a machine may do wrong: exploration must find each.
type bug uint8

const (
	noBug      bug = iota
	selfish        // a member whose try succeeds asks nobody
	silent         // a member whose try fails doesn't revoke it
	opinion        // a member leaves out those that it holds for dead itself
	oneContext     // a further try has the context of the one before
	byNumber       // its context is derived from the agreement's number only
)

// rules are what doesn't change in a world.
type rules struct {
	members, rounds, deaths int
	timid                   bool // a try fails where any death is known
	bug                     bug
}

// world is a communicator whose members make reductions that survive. A try gathers at the
// lowest present member, which tells the others the result. Agreements and revocations are what
// their packages promise, not machines. That is also that members which got an outcome and died
// may have got another one; then nothing counts that they have contributed since.
type world struct {
	*rules
	actors     []actor
	channels   [][]message // from*members+to; what a dead one has sent may be lost
	agreements []agreed
	dead       uint16
}

type actor struct {
	*Machine
	known   uint16 // members whose death it has heard of
	acked   uint16
	round   int // collectives that are over
	tries   int // in the present one
	entered int // agreements
	trying,
	waiting bool // for an outcome
	context uint64
	run     int    // tries in this context
	sum     uint16 // four bits for each member: how often its data counts
	here    uint16 // members whose data is in it
	revoked bool
	got     []value // by agreement
	story   []ending
}

// ending is what a collective came to.
type ending struct {
	sum, missing uint16
	open         proto.Rank
}

type message struct {
	kind    uint8 // of data, result, revoke
	context uint64
	run     int
	sum     uint16
}

const (
	data uint8 = iota
	result
	revoke
)

type agreed struct {
	entered, returned uint16
	flags             []uint32 // by member
	known, acked      []uint16
	decided           bool
	value             value
}

type value struct {
	flags         uint32
	failed, acked uint16
}

type event struct {
	kind     eventKind
	from, to int16 // of decide: the missing, and the agreement
}

type eventKind uint8

const (
	begin eventKind = iota
	deliver
	lose
	decide
	returns
	die
	hear
)

func (e event) String() string {
	return fmt.Sprintf("%s(%d,%d)", [...]string{"begin", "deliver", "lose", "decide", "return", "die", "hear"}[e.kind], e.from, e.to)
}

func (r *rules) world() *world {
	w := &world{rules: r, actors: make([]actor, r.members), channels: make([][]message, r.members*r.members)}
	var all []proto.Rank
	for i := range w.actors {
		all = append(all, proto.Rank(i))
	}
	for i := range w.actors {
		w.actors[i].Machine = New(all)
	}
	return w
}

func mask(list []proto.Rank) (m uint16) {
	for _, r := range list {
		m |= 1 << r
	}
	return m
}

func list(m uint16) (l []proto.Rank) {
	for ; m != 0; m &= m - 1 {
		l = append(l, proto.Rank(bits.TrailingZeros16(m)))
	}
	return l
}

func (w *world) live(i int) bool { return w.dead>>i&1 == 0 }

func (w *world) Events(dst []event) []event {
	for i := range w.actors {
		a, self := &w.actors[i], int16(i)
		if !w.live(i) {
			for q := range w.actors {
				if w.live(q) && w.actors[q].known>>i&1 == 0 {
					dst = append(dst, event{hear, self, int16(q)})
				}
			}
			continue
		}
		if w.dead == 0 || bits.OnesCount16(w.dead) < w.deaths {
			dst = append(dst, event{die, 0, self})
		}
		switch {
		case a.waiting:
			if w.agreements[a.entered-1].decided {
				dst = append(dst, event{returns, 0, self})
			}
		case a.trying:
			if a.known&w.awaited(i) != 0 {
				dst = append(dst, event{lose, 0, self})
			}
		case a.round < w.rounds:
			dst = append(dst, event{begin, 0, self})
		}
		for q := range w.actors {
			if c := w.channels[q*w.members+i]; len(c) > 0 && w.takes(a, &c[0]) {
				dst = append(dst, event{deliver, int16(q), self})
			}
		}
	}
	for k := range w.agreements {
		g := &w.agreements[k]
		if g.decided && (g.returned == 0 || g.returned&^w.dead != 0) {
			continue
		}
		heard := uint16(0) // by those that decide
		for _, r := range list(g.entered &^ w.dead) {
			heard |= w.actors[r].known
		}
		all := uint16(1)<<w.members - 1
		other := w.other(k)
		for missing := uint16(0); missing <= all; missing++ {
			if other&^missing == 0 && missing&^heard == 0 && all&^g.entered&^missing == 0 && missing != all {
				dst = append(dst, event{decide, int16(missing), int16(k)})
			}
		}
	}
	return dst
}

// awaited are the members whose death ends a try at a member.
func (w *world) awaited(i int) uint16 {
	a := &w.actors[i]
	switch hub := a.Present()[0]; {
	case w.timid:
		return mask(a.Present())
	case int(hub) != i:
		return 1 << hub
	}
	return mask(a.Present()) &^ a.here
}

// takes tells whether a message is one of the present try or of an earlier one, or a revocation
// of the present context.
func (w *world) takes(a *actor, m *message) bool {
	switch {
	case m.context != a.context:
		return m.context>>16 < a.context>>16
	case m.kind == revoke:
		return true
	}
	return m.run < a.run || m.run == a.run && (a.trying || a.waiting)
}

// other are the members that entered an agreement after an outcome that isn't the others'.
func (w *world) other(k int) (m uint16) {
	for i := range w.actors {
		for j, v := range w.actors[i].got[:min(k, len(w.actors[i].got))] {
			if v != w.agreements[j].value {
				m |= 1 << i
			}
		}
	}
	return m
}

func (w *world) Apply(e event) error {
	i := int(e.to)
	switch e.kind {
	case decide:
		w.decide(&w.agreements[i], uint16(e.from))
		return nil
	case die:
		w.dead |= 1 << i
		for q := range w.actors {
			w.channels[q*w.members+i] = nil
		}
		return nil
	case hear:
		w.channels[int(e.from)*w.members+i] = nil
		w.actors[i].known |= 1 << e.from
		return nil
	}
	a := &w.actors[i]
	switch e.kind {
	case begin:
		if a.round%2 == 1 { // the program acknowledges what it knows
			a.acked = a.known
		}
		a.tries = 0
		return w.begin(i)
	case lose:
		w.ends(i, Lost)
	case returns:
		return w.returns(i)
	case deliver:
		c := &w.channels[int(e.from)*w.members+i]
		m := (*c)[0]
		*c = slices.Clone((*c)[1:])
		w.delivered(i, int(e.from), &m)
	}
	return nil
}

// begin begins a try.
func (w *world) begin(i int) error {
	a := &w.actors[i]
	if a.tries++; a.tries > w.members {
		return errForever
	}
	a.trying, a.run = true, a.run+1
	a.sum, a.here = 1<<(4*i), 1<<i
	switch hub := int(a.Present()[0]); {
	case a.revoked:
		w.ends(i, Lost)
	case i != hub:
		w.send(i, hub, message{data, a.context, a.run, a.sum})
	case len(a.Present()) == 1:
		w.ends(i, Done)
	}
	return nil
}

func (w *world) delivered(i, from int, m *message) {
	a := &w.actors[i]
	if m.context != a.context || m.kind != revoke && (m.run != a.run || !a.trying) {
		return
	}
	switch m.kind {
	case data:
		a.sum, a.here = a.sum+m.sum, a.here|1<<from
		if a.here == mask(a.Present()) {
			for _, r := range a.Present()[1:] {
				w.send(i, int(r), message{result, a.context, a.run, a.sum})
			}
			w.ends(i, Done)
		}
	case result:
		a.sum = m.sum
		w.ends(i, Done)
	case revoke:
		if !a.revoked {
			w.revoke(i)
			if a.trying {
				w.ends(i, Lost)
			}
		}
	}
}

func (w *world) revoke(i int) {
	a := &w.actors[i]
	a.revoked = true
	for _, r := range a.Present() {
		w.send(i, int(r), message{kind: revoke, context: a.context})
	}
}

func (w *world) send(from, to int, m message) {
	if from != to && w.live(to) {
		c := &w.channels[from*w.members+to]
		*c = append(slices.Clone(*c), m)
	}
}
