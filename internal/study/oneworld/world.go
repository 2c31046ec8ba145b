package oneworld

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"banyan/internal/job/recovery"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

const (
	us     = proto.Time(1e3)
	ms     = proto.Time(1e6)
	second = proto.Time(1e9)
)

// limit is how long a run may take: by then every wait must have ended.
const limit = 150 * second

// stepLimit bounds a run that goes round in circles.
const stepLimit = 1_000_000

// world is one run.
type world struct {
	job
	rng      *rand.Rand
	now      proto.Time
	schedule schedule
	memory   *memory
	layout   layout.Layout
	places   []int32 // hosts of the first processes
	hosts    []*host
	ranks    []*rank   // all, in the order in which they were started
	slots    [][]*rank // by Proc
	started  map[recovery.Process]environment
	arrivals []proto.Time // of the last datagram of each pair of hosts
	redial   []proto.Time
	streams  []*stream
	console  console
	expected []string
	faults   []Fault
	bug      Bug

	checks
}

func newWorld(j job, m *memory) *world {
	w := &world{job: j, memory: m, rng: rand.New(rand.NewPCG(j.Seed, 15)), bug: j.Bug, started: make(map[recovery.Process]environment)}
	w.layout = layout.Uniform(w.Ranks, w.Replicas)
	w.expected = undisturbed(w.Ranks, w.Rounds)
	w.slots = make([][]*rank, w.layout.Procs())
	w.checks = newChecks(w)

	var entries []steward.HostEntry
	parties := w.Hosts + w.spares
	working := w.Hosts
	for h := range steward.Host(parties) {
		entries = append(entries, steward.HostEntry{Host: h, Domain: int32(h)})
	}
	if w.apart {
		entries = append(entries, steward.HostEntry{Host: steward.Host(parties), Domain: int32(parties), Console: true})
		parties++
	}
	var places []steward.Place
	for p := range proto.Proc(w.layout.Procs()) {
		k, r := w.layout.Replica(p), int(w.layout.Rank(p))
		// Layer k of replicas is rotated by so many hosts, so that no two replicas share one.
		on := (r*working/w.Ranks + k) % working
		places = append(places, steward.Place{Proc: p, Host: steward.Host(on), State: steward.Running})
		w.places = append(w.places, int32(on))
	}
	witness := steward.NoHost
	if w.witness {
		witness = steward.Host(parties)
		parties++
	}
	ledger := steward.NewLedger(entries, places, witness, false, steward.MaxVoters)
	w.electorate = ledger.Electorate
	for id := range steward.Host(parties) {
		h := &host{
			w: w, id: id, offset: proto.Time(w.rng.Int64N(int64(1000*second))) + second, wakesAt: proto.Never, leader: ledger.Electorate.Voters[0].Host, term: 1,
			incarnations: make([]proto.Incarnation, w.layout.Procs()), gone: make([]bool, w.layout.Procs()),
		}
		h.rate = []proto.Time{-1000, 0, 1000}[w.rng.IntN(3)]
		cfg := steward.Defaults(second)
		cfg.Self, cfg.Domain, cfg.Drift = id, int32(id), 1000
		if id == witness {
			h.witness = steward.NewWitness(h.clock(), id, ledger)
		} else {
			h.agent = steward.New(h.clock(), cfg, ledger)
			for _, p := range places {
				if p.Host == id {
					h.places = append(h.places, p)
				}
			}
		}
		h.begin()
		w.hosts = append(w.hosts, h)
	}
	w.arrivals = make([]proto.Time, parties*parties)
	w.redial = make([]proto.Time, parties*parties)
	w.streams = make([]*stream, parties*parties)
	length := proto.Time(w.Rounds)*(w.compute+w.compute/4) + 500*ms
	if w.faults = w.Faults; w.faults == nil {
		w.faults = drawFaults(w.rng, parties, w.layout.Procs(), length)
	}
	for i := range w.faults {
		w.at(w.faults[i].At, func() { w.strike(&w.faults[i]) })
	}
	w.console = newConsole(w.Ranks)
	home := w.hosts[w.rng.IntN(w.Hosts)]
	if w.apart {
		home = w.hosts[w.Hosts+w.spares]
	}
	w.logf(nil, "%v", &w.job)
	for _, h := range w.hosts {
		if h.agent != nil {
			w.after(w.upTo(5*ms), func() { h.agentDo(func() { h.call(h.agent.Open) }) })
		}
	}
	w.attach(home)
	return w
}

func (w *world) at(at proto.Time, do func()) {
	if at < 1<<60 {
		w.schedule.add(at, do)
	}
}

func (w *world) after(span proto.Time, do func()) { w.at(w.now+span, do) }

func (w *world) upTo(span proto.Time) proto.Time { return proto.Time(w.rng.Int64N(int64(span) + 1)) }

func (w *world) incarnationOf(p proto.Proc, incarnation proto.Incarnation) *rank {
	for _, r := range w.slots[p] {
		if r.incarnation == incarnation {
			return r
		}
	}
	return nil
}

// run plays to the end.
func (w *world) run() {
	for !w.schedule.empty() && w.err == nil {
		if w.schedule.next() > limit {
			break
		}
		e := w.schedule.take()
		w.now = e.at
		if w.steps++; w.steps > stepLimit {
			w.fail("no end after %d steps: %s", w.steps, w.state())
			break
		}
		e.do()
		if w.quiet() {
			break
		}
	}
	w.final()
}

// quiet says whether every agent is over or dead, for a while.
func (w *world) quiet() bool {
	if w.steps%64 != 0 {
		return false
	}
	over := !slices.ContainsFunc(w.hosts, func(h *host) bool { return h.agent != nil && !h.dead && !h.agentDead && !h.over })
	return over
}

func (w *world) logf(h *host, format string, args ...any) {
	if w.Log == nil {
		return
	}
	where := ""
	if h != nil {
		where = fmt.Sprintf("host %d", h.id)
	}
	w.Log(fmt.Sprintf("%11s  %-8s %s", inSeconds(w.now), where, fmt.Sprintf(format, args...)))
}
