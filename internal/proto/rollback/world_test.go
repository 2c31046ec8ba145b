package rollback

import (
	"errors"
	"fmt"
	"slices"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// world is a job under the machine: a ring of ranks, the hosts with their stores, and what is on
// its way. Rank r sends message k to the next rank in its k-th step and then receives message k-1
// of the one before; a safe point follows. The first step comes before the first safe point and
// receives nothing. So a message is held or under way at each safe point.
//
// Replica k of a rank sends to replica k of the next one. Where there is none, or it is dead, the
// lowest live replica does; it begins with what hasn't come (package replica). Messages are known
// by their numbers, and second copies are dropped. A replica may be ahead of another, and die.
//
// With led, ranks are in leader order (worldled_test.go).
type world struct {
	options
	layout      layout.Layout
	coordinator *Coordinator
	now         proto.Time
	procs       []*process // by Proc: the last process of each slot
	channels    [][]frame  // from process × to process
	said        []word     // reports on their way, in order for each process
	lines       [][]line   // by Proc: what the launcher has said and hasn't come
	copying     []Action
	stores      []*Store[part] // by host; nil: lost
	stable      *Store[part]   // on disk
	heals       []heal
	restarting  bool
	begins      Snapshot // what the epoch that starts goes back to
	decided     []int    // by rank: what was decided in this epoch; 0: nothing yet
	failed      string
	ended       bool
	commits     int
}

// options say what may happen.
type options struct {
	ranks, hosts int
	replicas     []int // of each rank; nil: one each
	steps        int   // of the program
	snapshots    int   // how many may be begun
	deaths       int   // how many processes may die
	ahead        bool  // only those may that are ahead of their siblings; snapshots are begun later
	hostDeaths   int
	replacements int    // how many may be started
	limits       int    // how often a snapshot may take too long
	suspicions   int    // how often a process may take a live one for dead, which is killed then
	disk         uint64 // every how many snapshots one is on disk
	queued       bool   // what the launcher says takes time
	led          bool   // replicas are in leader order
	choices      int    // how many outcomes a decision has then, beside one
	bug          bug
}

type process struct {
	*Participant
	epoch     Epoch
	alive     bool
	reaped    bool // the coordinator knows its end
	finalised bool
	step      int
	sent      int   // messages
	received  int   // likewise
	held      []int // messages that have come and weren't received
	standing  bool  // at a safe point
	receives  bool  // it has sent in this step
	to        []proto.Proc
	dead      []bool // by Proc: which it takes for dead
	fenced    []bool // by Proc: which of them may live; it doesn't hear them any more
	doomed    bool   // another one takes it for dead: the launcher is about to kill it
	home      Host
	ledState
}

type frame struct {
	epoch  Epoch
	marker Snapshot // Beginning: message number
	number int
}

type word struct {
	from   proto.Proc
	report Report
}

// line is what the launcher says to a process: an order, or that a process is dead.
type line struct {
	order Order
	dead  proto.Proc // NoProc: it is an order
}

// heal is a replacement on its way.
type heal struct {
	slot, donor proto.Proc
	home        Host
	state       *process // that it got of its donor; nil: none yet
	alive       bool
	filled      bool // it is a replica; not all know it yet
}

// part is a process's part of a snapshot.
type part struct {
	snapshot             Snapshot
	step, sent, received int
	held                 []int
	passed               uint64
	choice, seen, first  int // of leader order
}

func newWorld(o options) *world {
	if o.replicas == nil {
		o.replicas = slices.Repeat([]int{1}, o.ranks)
	}
	l := layout.Partial(o.replicas)
	w := &world{options: o, layout: l, coordinator: New(l, o.disk, 10), stable: NewStore[part]()}
	for range o.hosts {
		w.stores = append(w.stores, NewStore[part]())
	}
	n := l.Procs()
	w.procs, w.channels, w.lines = make([]*process, n), make([][]frame, n*n), make([][]line, n)
	if err := w.start(); err != nil {
		panic(err)
	}
	return w
}

// living are the hosts that are left.
func (w *world) living() (all []Host) {
	for h, s := range w.stores {
		if s != nil {
			all = append(all, Host(h))
		}
	}
	return all
}

// buddyOf is the next living host.
func (w *world) buddyOf(h Host) Host {
	for i := range w.stores {
		if k := (int(h) + 1 + i) % len(w.stores); w.stores[k] != nil && Host(k) != h {
			return Host(k)
		}
	}
	return NoHost
}

func (w *world) buddies() (all []Host) {
	for _, p := range w.procs {
		all = append(all, w.buddyOf(p.home))
	}
	return all
}

// start starts the processes of an epoch: one of each rank, and the others where a host runs none
// of their rank.
func (w *world) start() error {
	w.restarting, w.decided = false, make([]int, w.ranks)
	living := w.living()
	home, buddy := make([]Host, len(w.procs)), make([]Host, len(w.procs))
	for i := range w.procs {
		r, k := w.layout.Rank(proto.Proc(i)), w.layout.Replica(proto.Proc(i))
		home[i], buddy[i] = NoHost, NoHost
		if k < len(living) || w.hosts == 1 {
			home[i] = living[(int(r)+k)%len(living)]
			buddy[i] = w.buddyOf(home[i])
		}
	}
	for i := range w.procs {
		e := w.coordinator.Epoch()
		w.procs[i] = &process{Participant: NewParticipant(e, w.begins), epoch: e, alive: home[i] != NoHost, reaped: home[i] == NoHost, home: home[i], dead: make([]bool, len(w.procs)), fenced: make([]bool, len(w.procs))}
		w.lines[i] = nil
		for q := range home {
			w.procs[i].dead[q] = home[q] == NoHost
		}
	}
	w.gather()
	return w.lead(func(out *[]Action) {
		if w.coordinator.Began(home, buddy, out); w.bug == ungathered && w.coordinator.phase == gathers {
			w.coordinator.phase = runs
		}
	})
}

func (w *world) rank(p int) int           { return int(w.layout.Rank(proto.Proc(p))) }
func (w *world) next(r int) int           { return (r + 1) % w.ranks }
func (w *world) before(r int) int         { return (r + w.ranks - 1) % w.ranks }
func (w *world) channel(from, to int) int { return from*len(w.procs) + to }

// of are the processes of a rank.
func (w *world) of(r int) (all []int) {
	for k := range w.layout.Degree(proto.Rank(r)) {
		all = append(all, int(w.layout.Proc(proto.Rank(r), k)))
	}
	return all
}

// covered are the processes of the next rank to which this one sends, as far as it knows.
func (w *world) covered(p int) (all []int) {
	mine, lowest := w.of(w.rank(p)), -1
	for _, q := range mine {
		if lowest < 0 && !w.procs[p].dead[q] {
			lowest = q
		}
	}
	for k, q := range w.of(w.next(w.rank(p))) {
		by := lowest
		if k < len(mine) && !w.procs[p].dead[mine[k]] {
			by = mine[k]
		}
		if by == p && !w.procs[p].dead[q] {
			all = append(all, q)
		}
	}
	return all
}

var (
	errTwice    = errors.New("a message was received twice, or one was lost")
	errOld      = errors.New("a message of an abandoned epoch was received")
	errHalf     = errors.New("a process can't load its part of the snapshot")
	errTwoCut   = errors.New("the parts of the snapshot are no consistent cut")
	errNeedless = errors.New("the job goes back, and each rank has a live replica")
)

// step has a program go on to its next point.
func (w *world) step(i int) error {
	p := w.procs[i]
	p.standing = false
	if err := w.follow(i); err != nil {
		return err
	}
	if !p.receives {
		if p.step++; p.step <= w.steps {
			p.sent++
			p.waiting++
			if !w.led {
				w.output(i)
			}
		}
		if p.receives = p.step > 1; p.receives {
			return nil
		}
	} else {
		if p.held[0] != p.received+1 {
			return fmt.Errorf("%w: process %d got message %d after %d", errTwice, i, p.held[0], p.received)
		}
		p.held = slices.Clone(p.held[1:])
		p.received++
		p.receives = false
	}
	if last := p.received == w.steps; p.waiting > 0 && (last || !p.Idle() && w.bug != unwaited) {
		p.coming = true
		return nil
	}
	return w.come(i)
}

// come has a program come to a safe point, or to its end.
func (w *world) come(i int) error {
	p := w.procs[i]
	if p.coming = false; p.received == w.steps {
		p.finalised = true
		return w.lead(func(out *[]Action) { w.coordinator.Leaving(proto.Proc(i), p.epoch, out) })
	}
	p.standing = true
	return w.deeds(i, func(out *[]Deed) { p.Safepoint(w.now, w.sentTo(i), out) })
}

// output sends what a program has sent and what waited.
func (w *world) output(i int) {
	p := w.procs[i]
	for ; p.waiting > 0; p.waiting-- {
		for _, q := range w.covered(i) {
			w.send(i, q, frame{epoch: p.epoch, number: p.sent - p.waiting + 1})
		}
	}
}

func (w *world) sentTo(i int) Sent {
	return func() (all []proto.Proc, sends uint64) {
		p := w.procs[i]
		for q := range proto.Proc(len(w.procs)) {
			if _, sent := slices.BinarySearch(p.to, q); p.dead[q] && w.bug != suspectsLeftOut || !p.dead[q] && sent {
				all = append(all, q)
			}
		}
		return all, uint64(p.sent)
	}
}

// send puts a frame behind what its sender has sent before.
func (w *world) send(from, to int, f frame) {
	p, c := w.procs[from], w.channel(from, to)
	w.channels[c] = append(slices.Clone(w.channels[c]), f)
	if at, is := slices.BinarySearch(p.to, proto.Proc(to)); !is {
		p.to = slices.Insert(slices.Clone(p.to), at, proto.Proc(to))
	}
}

// repeat sends a process what it lacks of what another one has sent.
func (w *world) repeat(from, to int) {
	p, q := w.procs[from], w.procs[to]
	for n := q.received + len(q.held) + 1; n <= p.sent-p.waiting && !p.Loads(); n++ {
		w.send(from, to, frame{epoch: p.epoch, number: n})
	}
}

// arrive delivers a frame.
func (w *world) arrive(from, i int) error {
	c := w.channel(from, i)
	f := w.channels[c][0]
	w.channels[c] = w.channels[c][1:]
	p := w.procs[i]
	switch {
	case !p.alive || p.finalised || p.fenced[from]:
		return nil
	case !p.Accepts(f.epoch):
		if w.bug != oldAccepted {
			return nil
		}
		return errOld
	case f.marker != Beginning:
		return w.deeds(i, func(out *[]Deed) { p.Marker(proto.Proc(from), f.marker, out) })
	}
	switch next := p.received + len(p.held) + 1; {
	case f.number > next:
		return fmt.Errorf("%w: process %d lacks message %d before %d", errTwice, i, next, f.number)
	case f.number == next:
		p.held = append(slices.Clone(p.held), f.number)
	}
	return nil
}

// hear has a process take what the launcher has said.
func (w *world) hear(i int, l line) error {
	p := w.procs[i]
	if !p.alive {
		return nil
	}
	if l.dead == proto.NoProc {
		if w.bug == unflushed && l.order.Kind == Flush {
			l.order.From = nil
		}
		return w.deeds(i, func(out *[]Deed) { p.Ordered(w.now, l.order, w.sentTo(i), out) })
	}
	w.takeForDead(i, int(l.dead))
	return nil
}

// takeForDead has a process take another one for dead.
func (w *world) takeForDead(i, dead int) {
	p, before := w.procs[i], w.covered(i)
	p.dead = slices.Clone(p.dead)
	p.dead[dead] = true
	for _, q := range w.covered(i) {
		if !slices.Contains(before, q) {
			w.repeat(i, q)
		}
	}
}

// suspect has a process take a live one for dead. What is on its way between them is lost.
func (w *world) suspect(i, q int) {
	w.suspicions--
	p := w.procs[i]
	p.fenced = slices.Clone(p.fenced)
	p.fenced[q], w.procs[q].doomed = true, true
	w.channels[w.channel(i, q)], w.channels[w.channel(q, i)] = nil, nil
	w.takeForDead(i, q)
}

// tell says something to a process.
func (w *world) tell(i int, l line) error {
	if !w.queued {
		return w.hear(i, l)
	}
	w.lines[i] = append(slices.Clone(w.lines[i]), l)
	return nil
}

// deeds has a participant do something, and carries out what it wants.
func (w *world) deeds(i int, do func(out *[]Deed)) error {
	p := w.procs[i]
	var out []Deed
	do(&out)
	for _, d := range out {
		switch d.Kind {
		case SayReport:
			w.said = append(slices.Clone(w.said), word{proto.Proc(i), d.Report})
		case SendMark:
			if !p.dead[d.To] {
				w.send(i, int(d.To), frame{epoch: p.epoch, marker: d.Snapshot})
			}
		case TakeState:
			if took, err := w.take(i, d.Snapshot); err != nil || !took {
				return err
			}
			if err := w.deeds(i, p.Done); err != nil {
				return err
			}
			if w.bug == resumedEarly {
				if err := w.hear(i, line{Order{Kind: Resume, Snapshot: d.Snapshot}, proto.NoProc}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// take captures or loads the state of a process. What has come from a replica that was ahead and
// has died isn't part of a snapshot: it is sent again behind it.
func (w *world) take(i int, n Snapshot) (took bool, err error) {
	p, s, id := w.procs[i], w.stores[w.procs[i].home], proto.Proc(i)
	if !p.Loads() {
		before := w.steps
		if sends := p.Sends(); sends != nil {
			before = int(sends[w.before(w.rank(i))])
		}
		if p.received > before && w.bug != future {
			return false, w.deeds(i, func(out *[]Deed) { p.Fail("has received what is sent after that safe point", out) })
		}
		held := slices.DeleteFunc(slices.Clone(p.held), func(n int) bool {
			return n > before && w.bug != future
		})
		if w.led && len(held) < len(p.held) && w.bug != seenDropped {
			return false, w.deeds(i, func(out *[]Deed) { p.Fail("may have seen what is sent after that safe point", out) })
		}
		x := part{n, p.step, p.sent, p.received, held, p.Passed(), 0, p.seen, 0}
		if p.Repeats() {
			x.choice, x.first = p.choice, p.first
		}
		if w.bug == overwrites { // the store has room for one
			s.parts[id] = nil
		}
		s.Put(id, n, x)
		return true, nil
	}
	x, ok := s.Get(id, n)
	if !ok {
		return false, fmt.Errorf("%w: process %d, snapshot %d", errHalf, i, n)
	}
	if x.snapshot != n {
		return false, fmt.Errorf("%w: process %d has that of snapshot %d for %d", errTwoCut, i, x.snapshot, n)
	}
	if x.choice != 0 && p.choice != x.choice {
		return false, fmt.Errorf("%w: process %d", errSetUp, i)
	}
	p.step, p.sent, p.received, p.seen = x.step, x.sent, x.received, x.seen
	if w.bug != undropped {
		p.held = nil
	}
	p.held = append(slices.Clone(p.held), x.held...)
	p.SetPassed(x.passed)
	return true, nil
}

// copied ends a copy.
func (w *world) copied(a Action) error {
	at := func(h Host) *Store[part] {
		if h == Disk {
			return w.stable
		}
		return w.stores[h]
	}
	problem := "a host is lost"
	if from, to := at(a.From.Host), at(a.To.Host); from != nil && to != nil {
		problem = "it is forgotten"
		if x, ok := from.Get(a.From.Proc, a.Snapshot); ok && to.Put(a.To.Proc, a.Snapshot, x) {
			problem = ""
		}
	} else {
		return nil // the loss of the host is all that is told
	}
	return w.lead(func(out *[]Action) { w.coordinator.Copied(a.Snapshot, a.To, problem, out) })
}

// lead tells the coordinator something, and carries out what it wants.
func (w *world) lead(tell func(out *[]Action)) error {
	var out []Action
	w.bug.before(w)
	tell(&out)
	for _, a := range w.bug.actions(w, out) {
		switch a.Kind {
		case Tell:
			if err := w.tell(int(a.Proc), line{a.Order, proto.NoProc}); err != nil {
				return err
			}
		case Copy:
			w.copying = append(slices.Clone(w.copying), a)
		case Commit:
			w.commits++
			if err := w.checkCut(a.Snapshot); err != nil {
				return err
			}
			w.eachStore(func(s *Store[part]) { s.Commit(a.Snapshot) })
		case Discard:
			w.eachStore(func(s *Store[part]) { s.Discard(a.Snapshot) })
		case Kill:
			if err := w.checkKill(); err != nil {
				return err
			}
			for _, p := range w.procs {
				p.alive = p.alive && p.finalised && p.reaped
			}
			w.heals = nil
		case Restart:
			w.restarting, w.begins = true, a.Snapshot
		case Fail:
			w.failed = a.Text
		}
	}
	return nil
}

func (w *world) eachStore(do func(*Store[part])) {
	do(w.stable)
	for _, s := range w.stores {
		if s != nil {
			do(s)
		}
	}
}
