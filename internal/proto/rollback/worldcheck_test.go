package rollback

import (
	"encoding/binary"
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// Check implements explore.Checker: what is to have two copies has them when nothing is on its
// way.
func (w *world) Check() error {
	c := w.coordinator
	if c.phase != runs || c.taking != Beginning || c.committed == Beginning || len(w.copying) > 0 || w.failed != "" || len(w.living()) < 2 {
		return nil
	}
	for r := range w.ranks {
		if slices.ContainsFunc(w.of(r), func(i int) bool { return c.members[i].alive && w.stores[c.members[i].home] == nil }) {
			continue // its death is on its way
		}
		if found := w.copies(r, c.committed, false); len(found) == 1 {
			return fmt.Errorf("rank %d has one copy of snapshot %d, at host %d", r, c.committed, found[0])
		}
	}
	return nil
}

// copies are the hosts that have a part of a rank.
func (w *world) copies(r int, n Snapshot, disk bool) (all []Host) {
	has := func(s *Store[part]) bool {
		return s != nil && slices.ContainsFunc(w.of(r), func(i int) bool { _, ok := s.Get(proto.Proc(i), n); return ok })
	}
	for h, s := range w.stores {
		if has(s) {
			all = append(all, Host(h))
		}
	}
	if disk && has(w.stable) {
		all = append(all, Disk)
	}
	return all
}

// checkKill checks that a rank is lost, or that there is no state yet that would be.
func (w *world) checkKill() error {
	if w.procs[0].Participant == nil {
		return nil
	}
	loading := slices.ContainsFunc(w.procs, func(p *process) bool { return p.Loads() })
	for r := range w.ranks {
		if loading || !slices.ContainsFunc(w.of(r), func(i int) bool { return w.procs[i].alive || w.procs[i].finalised }) {
			return nil
		}
	}
	if w.coordinator.committed != Beginning && w.begins == w.coordinator.committed && w.coordinator.restarts > 0 {
		return nil // it had just been loaded by all, and the launcher didn't know
	}
	return errNeedless
}

// checkCut checks what was committed: there are as many copies as there should be, and all parts of
// a rank together with all of another are a cut.
func (w *world) checkCut(n Snapshot) error {
	parts := make([][]part, w.ranks)
	for r := range w.ranks {
		for _, i := range w.of(r) {
			w.eachStore(func(s *Store[part]) {
				if x, ok := s.Get(proto.Proc(i), n); ok {
					parts[r] = append(parts[r], x)
				}
			})
		}
		if slices.ContainsFunc(w.of(r), func(i int) bool {
			return w.coordinator.members[i].alive && w.stores[w.coordinator.members[i].home] == nil
		}) {
			continue // its death is on its way
		}
		want := min(2, len(w.living())) + truth(w.coordinator.stored == n)
		if found := w.copies(r, n, true); len(found) < want {
			return fmt.Errorf("snapshot %d is committed, and rank %d has copies at %v, not %d", n, r, found, want)
		}
	}
	for r := range parts {
		for _, from := range parts[w.before(r)] {
			for _, to := range parts[r] {
				if from.sent != to.received+len(to.held) {
					return fmt.Errorf("%w: rank %d has sent %d, rank %d has received %d and holds %v", errTwoCut, w.before(r), from.sent, r, to.received, to.held)
				}
				if to.seen > from.sent {
					return fmt.Errorf("%w: rank %d has sent %d, rank %d has seen %d", errTwoCut, w.before(r), from.sent, r, to.seen)
				}
			}
		}
		for _, x := range parts[r] {
			if x.step != parts[r][0].step || x.passed != parts[r][0].passed {
				return fmt.Errorf("%w: replicas of rank %d stand at safe points %d and %d", errTwoCut, r, parts[r][0].passed, x.passed)
			}
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
	lost := len(w.living()) == 0
	if n := w.coordinator.Committed(); !lost && n != Beginning {
		for r := range w.ranks {
			lost = lost || len(w.copies(r, n, true)) == 0
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
	k.members, k.shares = slices.Clone(k.members), slices.Clone(k.shares)
	c.coordinator = &k
	c.procs = make([]*process, len(w.procs))
	for i, p := range w.procs {
		c.procs[i] = p.clone()
	}
	c.heals = slices.Clone(w.heals)
	for i := range c.heals {
		if c.heals[i].state != nil {
			c.heals[i].state = c.heals[i].state.clone()
		}
		if c.heals[i].filled {
			c.heals[i].state = c.procs[c.heals[i].slot]
		}
	}
	c.channels, c.lines = slices.Clone(w.channels), slices.Clone(w.lines)
	c.stores = make([]*Store[part], len(w.stores))
	for i, s := range w.stores {
		if s != nil {
			c.stores[i] = s.clone()
		}
	}
	c.stable = w.stable.clone()
	return &c
}

func (p *process) clone() *process {
	q := *p
	part := *p.Participant
	q.Participant = &part
	return &q
}

func (s *Store[T]) clone() *Store[T] {
	c := *s
	c.parts = make(map[proto.Proc][]version[T], len(s.parts))
	for r, v := range s.parts {
		c.parts[r] = slices.Clone(v)
	}
	return &c
}

// keyed writes a state.
type keyed []byte

func (b *keyed) n(all ...int) {
	for _, x := range all {
		*b = binary.AppendVarint(*b, int64(x))
	}
}

func (b *keyed) procs(all []proto.Proc) {
	b.n(len(all))
	for _, p := range all {
		b.n(int(p))
	}
}

func (b *keyed) places(all []Place) {
	b.n(len(all))
	for _, x := range all {
		b.n(int(x.Host), int(x.Proc))
	}
}

func (b *keyed) process(p *process) {
	b.n(int(p.epoch), truth(p.alive), truth(p.reaped), truth(p.finalised), p.step, p.sent, p.received, truth(p.standing), truth(p.receives), int(p.home), len(p.held))
	b.n(p.held...)
	b.n(truth(p.doomed), p.choice, p.first, p.seen, p.waiting, truth(p.coming))
	for q, is := range p.dead {
		b.n(truth(is), truth(p.fenced[q]))
	}
	b.procs(p.to)
	q := p.Participant
	b.n(truth(q.loads), truth(q.here), truth(q.repeats), int(q.passed), int(q.snapshot), int(q.stage), int(q.at), truth(q.waits), int(q.marked))
	b.procs(q.awaited)
	for _, n := range q.sends {
		b.n(int(n))
	}
	b.procs(q.marks)
}

// AppendKey implements explore.World.
func (w *world) AppendKey(key []byte) []byte {
	b := (*keyed)(&key)
	c := w.coordinator
	b.n(w.decided...)
	b.n(w.snapshots, w.deaths, w.hostDeaths, w.limits, w.suspicions, w.replacements, truth(w.restarting), int(w.begins), len(w.failed), truth(w.ended))
	b.n(int(c.epoch), int(c.committed), int(c.last), int(c.stored), int(c.phase), truth(c.loads), int(c.taking), truth(c.deadline == proto.Never), c.restarts, truth(c.ending), truth(c.loose))
	for i := range c.members {
		m := &c.members[i]
		b.n(truth(m.alive), truth(m.left), truth(m.joining), int(m.home), int(m.buddy), int(m.at), truth(m.said), truth(m.sent != nil), int(m.sends))
		b.procs(m.sent)
	}
	for r := range c.shares {
		s := &c.shares[r]
		b.places(s.copies)
		b.places(s.fresh)
		b.places(s.awaited)
		b.places(s.asked)
	}
	for i, p := range w.procs {
		b.process(p)
		for from := range w.procs {
			x := w.channels[w.channel(from, i)]
			b.n(len(x))
			for _, f := range x {
				b.n(int(f.epoch), int(f.marker), f.number)
			}
		}
		b.n(len(w.lines[i]))
		for _, l := range w.lines[i] {
			b.n(int(l.dead), int(l.order.Kind), int(l.order.Snapshot), int(l.order.At), truth(l.order.Repeats))
			b.procs(l.order.From)
			for _, n := range l.order.Sends {
				b.n(int(n))
			}
		}
		for _, x := range w.said {
			if int(x.from) == i {
				b.n(int(x.report.Kind), int(x.report.Epoch), int(x.report.Snapshot), int(x.report.At))
				b.n(int(x.report.Sends))
				b.procs(x.report.Sent)
			}
		}
		b.n(-1)
	}
	for _, h := range w.heals {
		b.n(int(h.slot), int(h.donor), int(h.home), truth(h.alive), truth(h.filled), truth(h.state != nil))
		if h.state != nil && !h.filled {
			b.process(h.state)
		}
	}
	for _, a := range w.copying {
		b.n(int(a.Snapshot))
		b.places([]Place{a.From, a.To})
	}
	for _, s := range append([]*Store[part]{w.stable}, w.stores...) {
		if s == nil {
			b.n(-1)
			continue
		}
		b.n(int(s.committed), int(s.discarded))
		for i := range w.procs {
			for _, v := range s.parts[proto.Proc(i)] {
				b.n(int(v.snapshot), v.data.step, v.data.received, len(v.data.held), v.data.choice, v.data.first, v.data.seen)
			}
			b.n(-1)
		}
	}
	return key
}
