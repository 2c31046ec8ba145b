package rollback

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// world is a job under the machine: a ring of ranks, the hosts with their stores, and what is on
// its way. Rank r sends message k to the next rank in its k-th step and then receives message k-1
// of the one before; a safe point follows. The first step comes before the first safe point and
// receives nothing. So a message is held or under way at each safe point.
type world struct {
	options
	coordinator *Coordinator
	now         proto.Time
	procs       []*process // by rank: the last process of each
	channels    [][]frame  // by receiving rank: what its predecessor has sent
	said        []word     // reports on their way, in order for each rank
	orders      [][]Order  // by rank
	copying     []errand
	stores      []*Store[part] // by host; nil: lost
	stable      *Store[part]   // on disk
	restarting  bool
	begins      Snapshot // what the epoch that starts goes back to
	failed      string
	ended       bool
	commits     int
}

// options say what may happen.
type options struct {
	ranks, hosts int
	steps        int // of the program
	snapshots    int // how many may be begun
	deaths       int // how many processes may die
	hostDeaths   int
	limits       int    // how often a snapshot may take too long
	disk         uint64 // every how many snapshots one is on disk
	queued       bool   // orders travel, too
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
	to        []proto.Rank
	home      Host
}

type frame struct {
	epoch  Epoch
	marker Snapshot // Beginning: message number
	number int
}

type word struct {
	rank   proto.Rank
	report Report
}

// errand is a copy that is being made.
type errand struct {
	Action
	asked Epoch
}

// part is a rank's part of a snapshot.
type part struct {
	snapshot             Snapshot
	step, sent, received int
	held                 []int
	passed               uint64
}

type event struct {
	kind eventKind
	who  int
}

type eventKind uint8

const (
	evStep eventKind = iota // a program does what it does next
	evArrive
	evOrder
	evReport
	evCopied
	evCopyFails
	evReaped
	evTake
	evLimit
	evStart
	evKill
	evHostDies
)

var eventNames = [...]string{"step", "arrive", "order", "report", "copied", "copy fails", "reaped", "take", "limit", "start", "kill", "host dies"}

func (e event) String() string { return fmt.Sprintf("%s:%d", eventNames[e.kind], e.who) }

func newWorld(o options) *world {
	w := &world{options: o, coordinator: New(o.ranks, o.disk, 10), stable: NewStore[part]()}
	for range o.hosts {
		w.stores = append(w.stores, NewStore[part]())
	}
	w.procs, w.channels, w.orders = make([]*process, o.ranks), make([][]frame, o.ranks), make([][]Order, o.ranks)
	if err := w.start(); err != nil {
		panic(err)
	}
	return w
}

// start starts the processes of an epoch, on the hosts that are left.
func (w *world) start() error {
	w.restarting = false
	var living []Host
	for h, s := range w.stores {
		if s != nil {
			living = append(living, Host(h))
		}
	}
	home, buddy := make([]Host, w.ranks), make([]Host, w.ranks)
	for r := range w.procs {
		home[r], buddy[r] = living[r%len(living)], NoHost
		if len(living) > 1 {
			buddy[r] = living[(r+1)%len(living)]
		}
		e := w.coordinator.Epoch()
		w.procs[r] = &process{Participant: NewParticipant(e, w.begins), epoch: e, alive: true, home: home[r]}
		w.orders[r] = nil
	}
	return w.lead(func(out *[]Action) { w.coordinator.Began(home, buddy, out) })
}

func (w *world) next(r int) int   { return (r + 1) % w.ranks }
func (w *world) before(r int) int { return (r + w.ranks - 1) % w.ranks }

// canStep says whether a program has something to do.
func (w *world) canStep(p *process) bool {
	switch {
	case !p.alive || p.finalised || p.Waits():
		return false
	case p.receives:
		return len(p.held) > 0
	}
	return true
}

// Events implements explore.World.
func (w *world) Events(dst []event) []event {
	if w.failed != "" || w.ended {
		return dst
	}
	add := func(kind eventKind, who int, is bool) {
		if is {
			dst = append(dst, event{kind, who})
		}
	}
	if e, ok := w.alone(); ok {
		return append(dst, e)
	}
	add(evStart, 0, w.restarting)
	for r, p := range w.procs {
		add(evStep, r, w.canStep(p))
		add(evArrive, r, len(w.channels[r]) > 0)
		add(evOrder, r, p.alive && len(w.orders[r]) > 0)
		add(evReport, r, slices.ContainsFunc(w.said, func(x word) bool { return int(x.rank) == r }))
		add(evReaped, r, !p.alive && !p.reaped || p.finalised && p.alive && w.through())
		add(evKill, r, w.deaths > 0 && p.alive && !w.through())
	}
	for i := range w.copying {
		add(evCopied, i, true)
	}
	add(evTake, 0, w.snapshots > 0 && w.coordinator.phase == runs && w.coordinator.taking == Beginning && !w.coordinator.ending)
	add(evLimit, 0, w.limits > 0 && w.coordinator.Deadline() != proto.Never)
	for h, s := range w.stores {
		add(evHostDies, h, w.hostDeaths > 0 && s != nil && !w.through())
	}
	return dst
}

// alone is an event that makes no difference to any other that may happen now, nor they to it.
func (w *world) alone() (event, bool) {
	c := w.coordinator
	for r, p := range w.procs {
		if x := w.channels[r]; len(x) > 0 && w.bug != oldAccepted {
			if !p.alive || p.finalised || !p.Accepts(x[0].epoch) {
				return event{evArrive, r}, true // it is dropped
			}
			if x[0].marker == Beginning && c.phase == runs && c.taking == Beginning && p.Idle() {
				return event{evArrive, r}, true // nothing looks at it but the program, which waits for it
			}
		}
		if i := slices.IndexFunc(w.said, func(x word) bool { return int(x.rank) == r }); i >= 0 {
			x := w.said[i].report
			old := x.Epoch != c.epoch && w.bug != oldReports
			others := 0 // whose reports are yet to come
			for i := range c.ranks {
				others += truth(i != r && !c.ranks[i].said)
			}
			fits := x.Kind == Holding && c.phase == holds || x.Kind == Paused && c.phase == stops || x.Kind == Captured && c.phase == saves
			if old || fits && others > 0 {
				return event{evReport, r}, true
			}
		}
	}
	if c.phase == falls && w.hostDeaths == 0 {
		for r, p := range w.procs {
			if !p.alive && !p.reaped {
				return event{evReaped, r}, true
			}
		}
	}
	return event{}, false
}

// Check implements explore.Checker: what is to have two copies has them when nothing is on its
// way.
func (w *world) Check() error {
	c := w.coordinator
	if c.phase != runs || c.taking != Beginning || c.committed == Beginning || len(w.copying) > 0 || w.failed != "" {
		return nil
	}
	for r := range w.procs {
		m, found := &c.ranks[r], 0
		for _, s := range w.stores {
			if s != nil {
				_, ok := s.Get(proto.Rank(r), c.committed)
				found += truth(ok)
			}
		}
		if m.buddy != NoHost && w.stores[m.home] != nil && found < 2 {
			return fmt.Errorf("rank %d has %d copies of snapshot %d", r, found, c.committed)
		}
	}
	return nil
}

// through says whether all programs have finalised.
func (w *world) through() bool {
	return !slices.ContainsFunc(w.procs, func(p *process) bool { return !p.finalised || !p.alive && !p.reaped })
}

var (
	errTwice  = errors.New("a message was received twice, or one was lost")
	errOld    = errors.New("a message of an abandoned epoch was received")
	errHalf   = errors.New("a rank can't load its part of the snapshot")
	errTwoCut = errors.New("the parts of the snapshot are no consistent cut")
)

// Apply implements explore.World.
func (w *world) Apply(e event) error {
	switch e.kind {
	case evStep:
		return w.step(e.who)
	case evArrive:
		return w.arrive(e.who)
	case evOrder:
		o := w.orders[e.who][0]
		w.orders[e.who] = w.orders[e.who][1:]
		return w.order(e.who, o)
	case evReport:
		i := slices.IndexFunc(w.said, func(x word) bool { return int(x.rank) == e.who })
		x := w.said[i]
		w.said = slices.Delete(slices.Clone(w.said), i, i+1)
		return w.lead(func(out *[]Action) { w.coordinator.Heard(w.now, x.rank, x.report, out) })
	case evCopied:
		a := w.copying[e.who]
		w.copying = slices.Delete(slices.Clone(w.copying), e.who, e.who+1)
		return w.copied(a)
	case evReaped:
		p := w.procs[e.who]
		p.reaped, p.alive = true, false
		if p.finalised {
			w.ended = !slices.ContainsFunc(w.procs, func(q *process) bool { return !q.finalised })
			return w.lead(func(out *[]Action) { w.coordinator.Left(proto.Rank(e.who), p.epoch, out) })
		}
		return w.lead(func(out *[]Action) { w.coordinator.Died(proto.Rank(e.who), p.epoch, out) })
	case evTake:
		w.snapshots--
		return w.lead(func(out *[]Action) { w.coordinator.Take(w.now, out) })
	case evLimit:
		w.limits--
		w.now = w.coordinator.Deadline()
		return w.lead(func(out *[]Action) { w.coordinator.Tick(w.now, out) })
	case evStart:
		return w.start()
	case evKill:
		w.deaths--
		w.procs[e.who].alive = false
	case evHostDies:
		w.hostDeaths--
		w.stores[e.who] = nil
		for _, p := range w.procs {
			if p.home == Host(e.who) {
				p.alive = false
			}
		}
		if !slices.ContainsFunc(w.stores, func(s *Store[part]) bool { return s != nil }) {
			w.failed = "no host is left" // the launcher ends the job
			return nil
		}
		return w.lead(func(out *[]Action) { w.coordinator.HostLost(Host(e.who), out) })
	}
	return nil
}

// step has a program go on to its next point.
func (w *world) step(r int) error {
	p := w.procs[r]
	p.standing = false
	if !p.receives {
		if p.step++; p.step <= w.steps {
			p.sent++
			w.send(r, frame{epoch: p.epoch, number: p.sent})
		}
		if p.receives = p.step > 1; p.receives {
			return nil
		}
	} else {
		if p.held[0] != p.received+1 {
			return fmt.Errorf("%w: rank %d got message %d after %d", errTwice, r, p.held[0], p.received)
		}
		p.held = slices.Clone(p.held[1:])
		p.received++
		p.receives = false
	}
	if p.received == w.steps {
		p.finalised = true
		return w.lead(func(out *[]Action) { w.coordinator.Leaving(proto.Rank(r), p.epoch, out) })
	}
	p.standing = true
	return w.deeds(r, func(out *[]Deed) { p.Safepoint(w.now, func() []proto.Rank { return p.to }, out) })
}

// send puts a frame behind what its sender has sent before.
func (w *world) send(r int, f frame) {
	p, to := w.procs[r], w.next(r)
	w.channels[to] = append(slices.Clone(w.channels[to]), f)
	p.to = []proto.Rank{proto.Rank(to)}
}

// arrive delivers a frame.
func (w *world) arrive(r int) error {
	f := w.channels[r][0]
	w.channels[r] = w.channels[r][1:]
	p := w.procs[r]
	switch {
	case !p.alive || p.finalised:
		return nil
	case !p.Accepts(f.epoch):
		if w.bug != oldAccepted {
			return nil
		}
		return errOld
	case f.marker != Beginning:
		return w.deeds(r, func(out *[]Deed) { p.Marker(proto.Rank(w.before(r)), f.marker, out) })
	}
	p.held = append(slices.Clone(p.held), f.number)
	return nil
}

func (w *world) order(r int, o Order) error {
	p := w.procs[r]
	if !p.alive {
		return nil
	}
	if w.bug == unflushed && o.Kind == Flush {
		o.From = nil
	}
	return w.deeds(r, func(out *[]Deed) { p.Ordered(w.now, o, func() []proto.Rank { return p.to }, out) })
}

// deeds has a participant do something, and carries out what it wants.
func (w *world) deeds(r int, do func(out *[]Deed)) error {
	p := w.procs[r]
	var out []Deed
	do(&out)
	for _, d := range out {
		switch d.Kind {
		case SayReport:
			w.said = append(slices.Clone(w.said), word{proto.Rank(r), d.Report})
		case SendMark:
			w.send(r, frame{epoch: p.epoch, marker: d.Snapshot})
		case TakeState:
			if err := w.take(r, d.Snapshot); err != nil {
				return err
			}
			if err := w.deeds(r, p.Done); err != nil {
				return err
			}
			if w.bug == resumedEarly {
				if err := w.order(r, Order{Kind: Resume, Snapshot: d.Snapshot}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// take captures or loads the state of a rank.
func (w *world) take(r int, n Snapshot) error {
	p, s := w.procs[r], w.stores[w.procs[r].home]
	if !p.Loads() {
		x := part{n, p.step, p.sent, p.received, p.held, p.Passed()}
		if w.bug == overwrites { // the store has room for one
			s.parts[proto.Rank(r)] = nil
		}
		s.Put(proto.Rank(r), n, x)
		return nil
	}
	x, ok := s.Get(proto.Rank(r), n)
	if !ok {
		return fmt.Errorf("%w: rank %d, snapshot %d", errHalf, r, n)
	}
	if x.snapshot != n {
		return fmt.Errorf("%w: rank %d has that of snapshot %d for %d", errTwoCut, r, x.snapshot, n)
	}
	p.step, p.sent, p.received = x.step, x.sent, x.received
	if w.bug != undropped {
		p.held = nil
	}
	p.held = append(slices.Clone(p.held), x.held...)
	p.SetPassed(x.passed)
	return nil
}

// copied ends a copy.
func (w *world) copied(a errand) error {
	at := func(h Host) *Store[part] {
		if h == Disk {
			return w.stable
		}
		return w.stores[h]
	}
	problem := "a host is lost"
	if from, to := at(a.From), at(a.To); from != nil && to != nil {
		problem = "it is forgotten"
		if x, ok := from.Get(a.Rank, a.Snapshot); ok && to.Put(a.Rank, a.Snapshot, x) {
			problem = ""
		}
	} else if w.stores[max(a.To, 0)] == nil && a.To >= 0 || a.From >= 0 && w.stores[a.From] == nil {
		return nil // the loss of the host is all that is told
	}
	return w.lead(func(out *[]Action) { w.coordinator.Copied(a.Snapshot, a.Rank, a.To, problem, out) })
}

// lead tells the coordinator something, and carries out what it wants.
func (w *world) lead(tell func(out *[]Action)) error {
	var out []Action
	w.bug.before(w)
	tell(&out)
	for _, a := range w.bug.actions(w, out) {
		switch a.Kind {
		case Tell:
			if w.queued {
				w.orders[a.Rank] = append(slices.Clone(w.orders[a.Rank]), a.Order)
			} else if err := w.order(int(a.Rank), a.Order); err != nil {
				return err
			}
		case Copy:
			w.copying = append(slices.Clone(w.copying), errand{a, w.coordinator.Epoch()})
		case Commit:
			w.commits++
			if err := w.checkCut(a.Snapshot); err != nil {
				return err
			}
			w.eachStore(func(s *Store[part]) { s.Commit(a.Snapshot) })
		case Discard:
			w.eachStore(func(s *Store[part]) { s.Discard(a.Snapshot) })
		case Kill:
			for _, p := range w.procs {
				p.alive = p.alive && p.finalised && p.reaped
			}
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

// checkCut checks what was committed: each part is where it should be, and together they are a
// cut.
func (w *world) checkCut(n Snapshot) error {
	parts := make([]part, w.ranks)
	for r, p := range w.procs {
		found := 0
		w.eachStore(func(s *Store[part]) {
			if x, ok := s.Get(proto.Rank(r), n); ok {
				parts[r] = x
				found++
			}
		})
		if w.stores[p.home] == nil {
			continue // its death is on its way
		}
		if want := 1 + truth(w.coordinator.ranks[r].buddy != NoHost) + truth(w.coordinator.stored == n); found < want {
			return fmt.Errorf("snapshot %d is committed, and rank %d has %d copies, not %d", n, r, found, want)
		}
	}
	for r := range parts {
		from, to := parts[w.before(r)], parts[r]
		if from.sent != to.received+len(to.held) {
			return fmt.Errorf("%w: rank %d has sent %d, rank %d has received %d and holds %v", errTwoCut, w.before(r), from.sent, r, to.received, to.held)
		}
	}
	return nil
}

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

// End implements explore.World.
func (w *world) End() error {
	if w.ended {
		return nil
	}
	if w.failed == "" {
		return fmt.Errorf("nothing goes on, phase %d", w.coordinator.phase)
	}
	lost := !slices.ContainsFunc(w.stores, func(s *Store[part]) bool { return s != nil })
	if n := w.coordinator.Committed(); !lost && n != Beginning {
		for r := range w.procs {
			found := false
			w.eachStore(func(s *Store[part]) {
				_, ok := s.Get(proto.Rank(r), n)
				found = found || ok
			})
			lost = lost || !found
		}
	}
	if !lost {
		return fmt.Errorf("the job has ended (%s), and no part of its snapshot is lost", w.failed)
	}
	return nil
}

// Clone implements explore.World.
func (w *world) Clone() *world {
	c := *w
	k := *w.coordinator
	k.ranks = slices.Clone(k.ranks)
	c.coordinator = &k
	c.procs = make([]*process, len(w.procs))
	for i, p := range w.procs {
		q := *p
		part := *p.Participant
		q.Participant = &part
		c.procs[i] = &q
	}
	c.channels, c.orders = slices.Clone(w.channels), slices.Clone(w.orders)
	c.stores = make([]*Store[part], len(w.stores))
	for i, s := range w.stores {
		if s != nil {
			c.stores[i] = s.clone()
		}
	}
	c.stable = w.stable.clone()
	return &c
}

func (s *Store[T]) clone() *Store[T] {
	c := *s
	c.parts = make(map[proto.Rank][]version[T], len(s.parts))
	for r, v := range s.parts {
		c.parts[r] = slices.Clone(v)
	}
	return &c
}

// AppendKey implements explore.World.
func (w *world) AppendKey(b []byte) []byte {
	n := func(all ...int) {
		for _, x := range all {
			b = binary.AppendVarint(b, int64(x))
		}
	}
	ranks := func(all []proto.Rank) {
		n(len(all))
		for _, r := range all {
			n(int(r))
		}
	}
	hosts := func(all []Host) {
		n(len(all))
		for _, h := range all {
			n(int(h))
		}
	}
	c := w.coordinator
	n(w.snapshots, w.deaths, w.hostDeaths, w.limits, truth(w.restarting), int(w.begins), len(w.failed), truth(w.ended))
	n(int(c.epoch), int(c.committed), int(c.last), int(c.stored), int(c.phase), truth(c.loads), int(c.taking), truth(c.deadline == proto.Never), c.restarts, truth(c.ending))
	for i := range c.ranks {
		m := &c.ranks[i]
		n(truth(m.alive), truth(m.left), int(m.home), int(m.buddy), int(m.at), truth(m.said), truth(m.sent != nil))
		ranks(m.sent)
		hosts(m.copies)
		hosts(m.fresh)
		hosts(m.asked)
	}
	for r, p := range w.procs {
		n(int(p.epoch), truth(p.alive), truth(p.reaped), truth(p.finalised), p.step, p.sent, p.received, truth(p.standing), truth(p.receives), len(p.to), len(p.held))
		n(p.held...)
		q := p.Participant
		n(truth(q.loads), int(q.passed), int(q.snapshot), int(q.stage), int(q.at), truth(q.waits), int(q.marked))
		ranks(q.awaited)
		ranks(q.marks)
		n(len(w.channels[r]))
		for _, f := range w.channels[r] {
			n(int(f.epoch), int(f.marker), f.number)
		}
		n(len(w.orders[r]))
		for _, o := range w.orders[r] {
			n(int(o.Kind), int(o.Snapshot), int(o.At))
			ranks(o.From)
		}
		for _, x := range w.said {
			if int(x.rank) == r {
				n(int(x.report.Kind), int(x.report.Epoch), int(x.report.Snapshot), int(x.report.At))
				ranks(x.report.Sent)
			}
		}
		n(-1)
	}
	for _, a := range w.copying {
		n(int(a.Rank), int(a.Snapshot), int(a.From), int(a.To))
	}
	for _, s := range append([]*Store[part]{w.stable}, w.stores...) {
		if s == nil {
			n(-1)
			continue
		}
		n(int(s.committed), int(s.discarded))
		for r := range w.procs {
			for _, v := range s.parts[proto.Rank(r)] {
				n(int(v.snapshot), v.data.step, v.data.received, len(v.data.held))
			}
			n(-1)
		}
	}
	return b
}
