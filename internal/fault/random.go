package fault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// draw is a random entry.
type draw struct {
	count  int
	within Trigger
	seed   uint64
	only   *Action // nil for both kinds
}

func (d *draw) String() string {
	s := fmt.Sprintf("random count=%d within=%v seed=%d", d.count, d.within, d.seed)
	if d.only != nil {
		s += fmt.Sprintf(" action=%v", *d.only)
	}
	return s
}

func parseDraw(s settings) (*draw, error) {
	d := &draw{}
	text, ok := s.take("count")
	if !ok {
		return nil, errors.New("count= is missing")
	}
	count, err := parseCount("count", text, 1)
	if err != nil {
		return nil, err
	}
	d.count = int(count)
	if d.within, err = s.trigger("within"); err != nil {
		return nil, err
	}
	seed, err := s.number("seed", 0)
	if err != nil {
		return nil, err
	}
	d.seed = uint64(seed)
	switch action, _ := s.take("action"); action {
	case "":
	case "kill":
		d.only = new(Kill)
	case "stop":
		d.only = new(Stop)
	default:
		return nil, fmt.Errorf("action: %q is neither kill nor stop", action)
	}
	return d, nil
}

// Resolve makes a plan's events for a job of so many ranks with so many replicas each. It draws the
// random entries. Its error says which entry doesn't fit the job.
func (p Plan) Resolve(ranks, replicas int) ([]Event, error) {
	if ranks < 1 || replicas < 1 {
		return nil, fmt.Errorf("fault plan: a job has at least 1 rank and 1 replica, not %d and %d", ranks, replicas)
	}
	if len(p.entries) == 0 { // simulations have millions of ranks, and mostly no plan
		return nil, nil
	}
	return p.ResolveDegrees(slices.Repeat([]int{replicas}, ranks))
}

// ResolveDegrees is Resolve for a job in which each rank has its own number of replicas.
func (p Plan) ResolveDegrees(degrees []int) ([]Event, error) { return p.resolve(degrees, false) }

// ResolveReturning is ResolveDegrees for a job that goes back when it loses a rank: random entries
// draw any process, and again and again.
func (p Plan) ResolveReturning(degrees []int) ([]Event, error) { return p.resolve(degrees, true) }

func (p Plan) resolve(degrees []int, returning bool) ([]Event, error) {
	ranks := len(degrees)
	victims := make([][]bool, ranks)
	for rank, replicas := range degrees {
		victims[rank] = make([]bool, replicas)
	}
	for i, e := range p.entries {
		if e.draw != nil {
			continue
		}
		if e.event.Rank >= ranks {
			return nil, entryError(i, e.String(), fmt.Errorf("rank %d is not among 0…%d", e.event.Rank, ranks-1))
		}
		if replicas := degrees[e.event.Rank]; e.event.Replica >= replicas {
			return nil, entryError(i, e.String(), fmt.Errorf("replica %d is not among 0…%d", e.event.Replica, replicas-1))
		}
		victims[e.event.Rank][e.event.Replica] = true
	}
	var events []Event
	for i, e := range p.entries {
		if e.draw == nil {
			events = append(events, e.event)
			continue
		}
		if returning {
			events = append(events, e.draw.returning(degrees)...)
			continue
		}
		drawn, err := e.draw.resolve(victims)
		if err != nil {
			return nil, entryError(i, e.String(), err)
		}
		events = append(events, drawn...)
	}
	return events, nil
}

// resolve draws the events, and marks their processes in victims, by rank and replica.
func (d *draw) resolve(victims [][]bool) ([]Event, error) {
	// spare is how many more replicas each rank can lose.
	spare := make([]int, len(victims))
	possible, procs, most := 0, 0, 0
	for rank, replicas := range victims {
		spare[rank] = len(replicas) - 1
		for _, victim := range replicas {
			if victim {
				spare[rank]--
			}
		}
		possible += max(0, spare[rank])
		procs, most = procs+len(replicas), max(most, len(replicas))
	}
	ranks := len(victims)
	if d.count > possible {
		return nil, fmt.Errorf("count=%d is too many: to leave each rank a replica, at most %d of %d processes (of %d ranks) can be drawn",
			d.count, possible, procs, ranks)
	}
	rng := rand.New(rand.NewPCG(d.seed, uint64(ranks)<<32|uint64(most)))
	var events []Event
	for _, slot := range rng.Perm(ranks * most) {
		if len(events) == d.count {
			break
		}
		rank, replica := slot%ranks, slot/ranks
		if replica >= len(victims[rank]) || victims[rank][replica] || spare[rank] <= 0 {
			continue
		}
		victims[rank][replica] = true
		spare[rank]--
		events = append(events, Event{d.action(rng), rank, replica, d.moment(rng)})
	}
	return events, nil
}

// returning draws the events of a job whose ranks return.
func (d *draw) returning(degrees []int) (events []Event) {
	rng := rand.New(rand.NewPCG(d.seed, uint64(len(degrees))))
	for range d.count {
		action, rank, replica := d.action(rng), rng.IntN(len(degrees)), 0
		if n := degrees[rank]; n > 1 {
			replica = rng.IntN(n)
		}
		events = append(events, Event{action, rank, replica, d.moment(rng)})
	}
	return events
}

func (d *draw) action(rng *rand.Rand) Action {
	if d.only != nil {
		return *d.only
	}
	return []Action{Kill, Stop}[rng.IntN(2)]
}

// moment draws a moment up to and including within.
func (d *draw) moment(rng *rand.Rand) Trigger {
	least := int64(0)
	if d.within.Kind == AtSend {
		least = 1
	}
	n := least + int64(rng.Uint64N(uint64(d.within.N-least)+1))
	if d.within.Kind == After && d.within.N > 1e6 {
		n -= n % 1e3 // whole microseconds read better, and timers aren't more exact
	}
	return Trigger{d.within.Kind, n}
}
