package stabilisation

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// Abstraction plays scenarios without heartbeats, as the simulator of the paper's section 4.1
// did: it computes from the phase of the emitter's heartbeats when an observer's time-out
// expires. It follows only the nodes right behind a dead one, as all others know what all know;
// so a run costs a few events whatever the size.
//
// It simplifies broadcasts too: a broadcast reaches all at once, after the time of 2⌊log2 n⌋
// messages in sequence. If its source dies before, it reaches no node. The machines reach some
// then; the next observer broadcasts in any case, so that only runs with a failure within a
// broadcast of another's detection can differ. See TestAgainstMachines.
type Abstraction struct {
	*Scenario
	ring *topology.Ring
	rng  *rand.Rand
	now  proto.Time // on the clock of the phases
	next int        // the failure that comes next

	deaths     []death // that have struck, in order
	common     list    // what all live nodes know
	owners     []owner
	broadcasts []broadcast // under way
	outcome    Outcome
}

// list says for each death whether it is on the list.
type list []bool

func (l list) has(i int) bool { return i < len(l) && l[i] }

func (l list) with(i int) list {
	for i >= len(l) {
		l = append(l, false)
	}
	l[i] = true
	return l
}

func (l list) union(m list) list {
	for i, in := range m {
		if in {
			l = l.with(i)
		}
	}
	return l
}

func (l list) len() (n int) {
	for _, in := range l {
		if in {
			n++
		}
	}
	return n
}

type death struct {
	position int
	at       proto.Time
	known    proto.Time // to all live nodes, since; or Never
}

// owner is a live node whose predecessor on the ring has died. It observes the node that it takes
// for the next live one before it, and must broadcast its segment, the dead nodes between.
type owner struct {
	position int
	emitter  int        // its position; the owner's own if no other node is left
	since    proto.Time // it observes this emitter
	beats    proto.Time // the first heartbeat it gets from it; the others follow each η
	suspect  proto.Time // when it will, or Never while the emitter lives
	knows    list
	told     list // by itself, to all
}

type broadcast struct {
	source int
	ends   proto.Time
	news   list
}

// NewAbstraction prepares for runs of settings.
func NewAbstraction(s *Settings) *Abstraction { return &Abstraction{ring: s.ring()} }

// Run plays a scenario.
func (a *Abstraction) Run(ctx context.Context, s *Scenario) (Outcome, error) {
	a.Scenario = s
	a.rng = rand.New(rand.NewPCG(s.Seed, 1))
	a.now, a.next = 0, 0
	a.deaths, a.common = a.deaths[:0], a.common[:0]
	a.owners, a.broadcasts = a.owners[:0], a.broadcasts[:0]
	a.outcome = Outcome{}
	if s.Trigger {
		return Outcome{}, errors.New("the abstraction knows time-outs only: a failure that its observer is told of needs the machines")
	}
	for a.step() {
	}
	a.account()
	return a.outcome, ctx.Err()
}

// step plays the next event, unless the run is over.
func (a *Abstraction) step() bool {
	failure, more := a.Failure(a.next)
	at := failure.At + a.Onset()
	if !more {
		at = proto.Never
	}
	suspecting, ending := -1, -1
	for i := range a.owners {
		if t := a.owners[i].suspect; t < at {
			at, suspecting = t, i
		}
	}
	for i := range a.broadcasts {
		if t := a.broadcasts[i].ends; t < at {
			at, ending = t, i
		}
	}
	if at == proto.Never {
		return false
	}
	a.now = at
	switch {
	case ending >= 0:
		b := a.broadcasts[ending]
		a.broadcasts = slices.Delete(a.broadcasts, ending, ending+1)
		a.arrive(b)
	case suspecting >= 0:
		o := &a.owners[suspecting]
		dead := a.whoDied(o.emitter)
		if dead == 0 && a.outcome.Detected == 0 {
			a.outcome.Detected = a.now - a.Onset()
		}
		o.knows = o.knows.with(dead)
		a.reconnect(o)
		a.tell(o)
	default:
		a.next++
		a.die(a.ring.Position(failure.Node))
	}
	if a.stable() {
		a.outcome.Stable = true
		return false
	}
	return len(a.deaths) < maxFailures
}

// stable says whether all nodes know of all deaths.
func (a *Abstraction) stable() bool {
	if len(a.deaths) == 0 || slices.ContainsFunc(a.deaths, func(d death) bool { return d.known == proto.Never }) {
		return false
	}
	_, more := a.Failure(a.next)
	return !more || !a.forced()
}

// die is the death of a node. Its observer detects it, if it has a live one.
func (a *Abstraction) die(p int) {
	a.deaths = append(a.deaths, death{p, a.now, proto.Never})
	a.owners = slices.DeleteFunc(a.owners, func(o owner) bool { return o.position == p })
	a.broadcasts = slices.DeleteFunc(a.broadcasts, func(b broadcast) bool { return b.source == p })
	q := a.after(p)
	for q != p && a.whoDied(q) >= 0 {
		q = a.after(q)
	}
	if q == p {
		return // no other node is left
	}
	i := slices.IndexFunc(a.owners, func(o owner) bool { return o.position == q })
	if i < 0 {
		i = len(a.owners)
		a.owners = append(a.owners, owner{
			position: q, emitter: p, beats: a.Phase(a.ring.At(p)), suspect: proto.Never, knows: slices.Clone(a.common),
		})
	}
	switch o := &a.owners[i]; {
	case o.emitter != p: // it will come upon p
	case o.beats > a.now:
		o.suspect = o.since + 2*a.Timeout
	default:
		o.suspect = a.now - (a.now-o.beats)%a.Period + a.transfer() + a.Timeout
	}
}

// reconnect has an owner observe the nearest node before it of whose death it doesn't know.
func (a *Abstraction) reconnect(o *owner) {
	o.emitter = a.before(o.position)
	for o.emitter != o.position {
		d := a.whoDied(o.emitter)
		if d < 0 || !o.knows.has(d) {
			break
		}
		o.emitter = a.before(o.emitter)
	}
	o.suspect, o.since = proto.Never, a.now
	if o.emitter == o.position {
		return
	}
	a.outcome.Messages.Observes++
	o.beats = a.now + a.transfer() // at once when it learns of its new observer
	if a.whoDied(o.emitter) >= 0 {
		o.suspect = a.now + 2*a.Timeout
	}
}

// tell has an owner broadcast all deaths that it knows if one in its segment isn't broadcast yet.
func (a *Abstraction) tell(o *owner) {
	owes := false
	for p := a.before(o.position); p != o.emitter && p != o.position; p = a.before(p) {
		owes = owes || !o.told.has(a.whoDied(p))
	}
	if !owes {
		return
	}
	o.told = o.told.union(o.knows)
	cubes := topology.NewHypercubes(a.Nodes - o.knows.len())
	if cubes.Trees() > 0 { // otherwise no other node is left
		a.outcome.Broadcasts++
	}
	a.outcome.Messages.News += cubes.Copies()
	ends := a.now
	for range 2 * cubes.Trees() {
		ends += a.transfer()
	}
	a.broadcasts = append(a.broadcasts, broadcast{o.position, ends, slices.Clone(o.knows)})
}

// arrive is the end of a broadcast: all live nodes have it.
func (a *Abstraction) arrive(b broadcast) {
	a.common = a.common.union(b.news)
	for i := range a.deaths {
		if b.news.has(i) {
			a.deaths[i].known = min(a.deaths[i].known, a.now)
		}
	}
	for i := range a.owners {
		o := &a.owners[i]
		o.knows = o.knows.union(b.news)
		if d := a.whoDied(o.emitter); d >= 0 && o.knows.has(d) {
			a.reconnect(o)
		}
		a.tell(o)
	}
}

// account returns the outcome of a run.
func (a *Abstraction) account() {
	o := &a.outcome
	o.Failures = len(a.deaths)
	beating := a.Nodes
	if o.Stable {
		o.All = a.now - a.Onset()
		o.First = a.deaths[0].known - a.Onset()
	}
	total := 0.0
	for _, d := range a.deaths {
		if o.Stable {
			o.Each += (d.known - d.at) / proto.Time(len(a.deaths))
		}
		beating--
		total += float64(d.at - a.Onset())
	}
	total += float64(beating) * float64(a.now-a.Onset())
	o.Messages.Heartbeats = int(total/float64(a.Period)) + o.Messages.Observes
}

// whoDied is the number of the death at a position, or -1.
func (a *Abstraction) whoDied(position int) int {
	for i := range a.deaths {
		if a.deaths[i].position == position {
			return i
		}
	}
	return -1
}

func (a *Abstraction) after(position int) int {
	if position++; position < a.Nodes {
		return position
	}
	return 0
}

func (a *Abstraction) before(position int) int {
	if position == 0 {
		return a.Nodes - 1
	}
	return position - 1
}

// transfer is the time of a message.
func (a *Abstraction) transfer() proto.Time {
	if a.Fixed {
		return a.Tau
	}
	return 1 + proto.Time(a.rng.Int64N(int64(a.Tau)))
}
