package retry

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
	"banyan/internal/varint"
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
	timid                   bool // a try fails where any death is known, not only that of a member that it waits for
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

// ends ends a try at a member, and enters the agreement on it.
func (w *world) ends(i int, r Result) {
	a := &w.actors[i]
	a.trying = false
	if r == Lost && !a.revoked && w.bug != silent {
		w.revoke(i)
	}
	if w.bug == selfish && r == Done {
		w.over(i, Verdict{Unacknowledged: proto.AnyRank, Missing: without(a.members, a.present)})
		return
	}
	a.waiting = true
	a.entered++
	if len(w.agreements) < a.entered {
		w.agreements = append(slices.Clone(w.agreements), agreed{})
	}
	g := &w.agreements[a.entered-1]
	g.flags, g.known, g.acked = slices.Clone(g.flags), slices.Clone(g.known), slices.Clone(g.acked)
	for len(g.flags) < w.members {
		g.flags, g.known, g.acked = append(g.flags, 0), append(g.known, 0), append(g.acked, 0)
	}
	g.entered |= 1 << i
	g.flags[i], g.known[i], g.acked[i] = r.Flags(), a.known, a.acked
}

func (w *world) decide(g *agreed, missing uint16) {
	v := value{flags: ^uint32(0), failed: missing, acked: ^uint16(0)}
	for _, r := range list(g.entered &^ missing) {
		v.flags &= g.flags[r]
		v.failed |= g.known[r]
		v.acked &= g.acked[r]
	}
	g.decided, g.value = true, v
}

func (w *world) returns(i int) error {
	a := &w.actors[i]
	number := a.entered
	g := &w.agreements[number-1]
	g.returned |= 1 << i
	a.waiting = false
	failed := g.value.failed
	if w.bug == opinion {
		failed = a.known
	}
	a.got = append(slices.Clone(a.got), g.value)
	since := a.Since()
	v := a.Agreed(&Outcome{Number: uint64(number), Flags: g.value.flags, Failed: list(failed), Acknowledged: list(g.value.acked)})
	if a.Since() != since {
		a.revoked, a.run, a.context = false, 0, a.Since()<<16|uint64(failed)
		switch w.bug {
		case oneContext:
			a.context, a.run = 0, a.round
		case byNumber:
			a.context = a.Since() << 16
		}
	}
	if v.Broken {
		return fmt.Errorf("%w: %d is told of a failure without a death", errInvalid, i)
	}
	if v.Again {
		return w.begin(i)
	}
	return w.over(i, v)
}

// over ends a collective at a member, and checks it.
func (w *world) over(i int, v Verdict) error {
	a := &w.actors[i]
	e := ending{a.sum, mask(v.Missing), v.Unacknowledged}
	a.story = append(slices.Clone(a.story), e)
	a.round++
	if w.bug == oneContext {
		a.run = a.round
	}
	for q := range w.actors {
		count := uint16(1)
		if e.missing>>q&1 != 0 {
			count = 0
		}
		if got := e.sum >> (4 * q) & 15; got != count || count == 0 && w.live(q) {
			return fmt.Errorf("%w: at %d %d counts %d times, missing are %b", errInvalid, i, q, got, e.missing)
		}
		b := &w.actors[q]
		if w.live(q) && b.round >= a.round && b.story[a.round-1] != e {
			return fmt.Errorf("%w: %d has %+v, %d %+v", errDiffers, i, e, q, b.story[a.round-1])
		}
	}
	if open := e.missing &^ a.acked; open != 0 && e.open == proto.AnyRank {
		return fmt.Errorf("%w: %d hasn't acknowledged %b, and gets no error", errInvalid, i, open)
	}
	return nil
}

func (w *world) End() error {
	for i := range w.actors {
		if w.live(i) && w.actors[i].round < w.rounds {
			return fmt.Errorf("%w: %d", errStuck, i)
		}
	}
	return nil
}

// Check sees that nobody waits for ever where nothing but a death may still happen.
func (w *world) Check() error {
	for _, e := range w.Events(nil) {
		if e.kind != die {
			return nil
		}
	}
	return w.End()
}

func (w *world) Clone() *world {
	c := *w
	c.actors, c.channels, c.agreements = slices.Clone(w.actors), slices.Clone(w.channels), slices.Clone(w.agreements)
	for i := range c.actors {
		m := *c.actors[i].Machine
		c.actors[i].Machine = &m
	}
	return &c
}

func (w *world) AppendKey(b []byte) []byte {
	b = varint.Append(b, uint64(w.dead))
	for i := range w.actors {
		a := &w.actors[i]
		for _, e := range a.story {
			b = varint.Append(b, uint64(e.sum), uint64(e.missing), uint64(e.open+1))
		}
		b = varint.Append(b, uint64(len(a.got)))
		for _, v := range a.got {
			b = varint.Append(b, uint64(v.flags), uint64(v.failed), uint64(v.acked))
		}
		if !w.live(i) {
			continue
		}
		b = varint.Append(b, uint64(a.known), uint64(a.acked), uint64(a.round), uint64(a.tries), uint64(a.entered), uint64(a.run),
			uint64(a.sum), uint64(a.here), uint64(mask(a.Present())), a.Since(), a.context, bit(a.trying), bit(a.waiting), bit(a.revoked))
	}
	for _, c := range w.channels {
		b = varint.Append(b, uint64(len(c)))
		for _, m := range c {
			b = varint.Append(b, uint64(m.kind), m.context, uint64(m.run), uint64(m.sum))
		}
	}
	for k := range w.agreements {
		g := &w.agreements[k]
		b = varint.Append(b, uint64(g.entered), uint64(g.returned), bit(g.decided), uint64(g.value.flags), uint64(g.value.failed), uint64(g.value.acked))
		for i := range g.flags {
			b = varint.Append(b, uint64(g.flags[i]), uint64(g.known[i]), uint64(g.acked[i]))
		}
	}
	return b
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var (
	_ explore.World[*world, event] = (*world)(nil)
	_ explore.Checker              = (*world)(nil)
)
