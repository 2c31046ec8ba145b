package check

import (
	"cmp"
	"slices"

	"banyan/internal/proto"
)

// Job says where the records of a job are.
type Job struct {
	Dir   string
	Ranks int
	// Procs are the processes of a rank, by replica. A rank with one process isn't compared.
	Procs func(rank int) []proto.Proc
	// Order is who decides what timing decides, as banyan run --order has it. What to advise
	// depends on it.
	Order string
	// Readable, if set, makes a symbol of a program the name of its function.
	Readable func(symbol string) string
}

// Comparison compares the records of a job, even while they are being written.
type Comparison struct {
	job   Job
	ranks []*rank
}

// rank is the state of the comparison of one rank's replicas.
type rank struct {
	number   int
	replicas []*follower
	head     []*Event // the next call of each replica, nil if it isn't recorded yet
	data     [][]byte // of these calls, where it was recorded
	spots    map[Site][]spots
	calls    int // so many calls have the same control
	found    *Difference
	payloads Sites       // calls with the same control and another payload
	payload  *Difference // the first of them
	over     bool        // the program has ended at all replicas
}

// Difference is a call that isn't the same in two replicas.
type Difference struct {
	Rank     int      `json:"rank"`
	Number   int      `json:"number"` // of the call among those of the rank that send, from 1
	Replicas [2]int   `json:"replicas"`
	Calls    [2]Event `json:"-"`
	Differs  []string `json:"differs"` // the names of the fields that differ
	// Cause is the last receive before the call that got another message, nil if there is none.
	// Before is how many receives came before the call, Differed how many of them got another
	// message.
	Cause            *Cause `json:"-"`
	Differed, Before int    `json:"-"`
	order            string // of the job
}

// Cause is a receive that got different messages.
type Cause struct {
	Number   int // of the receive, from 1
	Receives [2]Event
}

// Summary is what a comparison has found.
type Summary struct {
	Calls    int           // made by all replicas with the same control
	Found    []*Difference // in control, at most one for each rank, in the order of time
	Payloads Sites         // of the calls that differ in payload only
	Payload  *Difference   // the first of them by time
	// Raw are the sites of Payloads as a run can look at them (Environment), those with the most
	// calls first. Seen says which bytes differ at the site that this run looked at, by its name in
	// Payloads.
	Raw  []Site
	Seen map[Site]string
	// Cut are the ranks without a difference in control whose records end before the program
	// does. In a job that has ended well, something is missing there.
	Cut []int
}

// Compare begins to compare.
func Compare(j Job) *Comparison {
	c := &Comparison{job: j}
	for r := range j.Ranks {
		procs := j.Procs(r)
		if len(procs) < 2 {
			continue
		}
		x := &rank{number: r, head: make([]*Event, len(procs)), data: make([][]byte, len(procs)), payloads: make(Sites), spots: make(map[Site][]spots)}
		for _, p := range procs {
			x.replicas = append(x.replicas, &follower{path: FileOf(j.Dir, p)})
		}
		c.ranks = append(c.ranks, x)
	}
	return c
}

// Close closes the files.
func (c *Comparison) Close() {
	for _, r := range c.ranks {
		for _, f := range r.replicas {
			f.close()
		}
	}
}

// Advance compares what has been written since the last call. moved says whether there was
// anything.
func (c *Comparison) Advance() (moved bool, err error) {
	for _, r := range c.ranks {
		for r.found == nil {
			more, err := r.step(c.job)
			if err != nil {
				return moved, err
			}
			if !more {
				break
			}
			moved = true
		}
	}
	return moved, nil
}

// Diverged says whether a difference in control has been found.
func (c *Comparison) Diverged() bool {
	return slices.ContainsFunc(c.ranks, func(r *rank) bool { return r.found != nil })
}

// Summary is what has been found, with the causes.
func (c *Comparison) Summary() (*Summary, error) {
	s := &Summary{Payloads: make(Sites), Seen: make(map[Site]string)}
	seen := make(map[Site][]spots)
	for _, r := range c.ranks {
		for site, calls := range r.spots {
			seen[site] = append(seen[site], calls...)
		}
		s.Calls += r.calls
		s.Payloads.Add(r.payloads)
		if r.payload != nil && (s.Payload == nil || r.payload.time() < s.Payload.time()) {
			s.Payload = r.payload
		}
		if r.found == nil {
			if !r.over {
				s.Cut = append(s.Cut, r.number)
			}
			continue
		}
		if err := r.found.explain(c.job); err != nil {
			return nil, err
		}
		s.Found = append(s.Found, r.found)
	}
	if s.Payload != nil {
		if err := s.Payload.explain(c.job); err != nil {
			return nil, err
		}
	}
	s.Raw = s.Payloads.Sorted()
	s.locate(sources{readable: c.job.Readable}, seen)
	slices.SortStableFunc(s.Found, func(a, b *Difference) int { return cmp.Compare(a.time(), b.time()) })
	return s, nil
}

// locate replaces addresses by lines of source files.
func (s *Summary) locate(files sources, seen map[Site][]spots) {
	name := func(d *Difference) {
		if d == nil {
			return
		}
		events := []*Event{&d.Calls[0], &d.Calls[1]}
		if d.Cause != nil {
			events = append(events, &d.Cause.Receives[0], &d.Cause.Receives[1])
		}
		for _, e := range events {
			e.Where = files.name(e.Where)
		}
	}
	for _, d := range s.Found {
		name(d)
	}
	name(s.Payload)
	named := make(Sites)
	for p, calls := range s.Payloads {
		named[Site{p.Op, files.name(p.Where)}] += calls
	}
	s.Payloads = named
	for p, calls := range seen {
		s.Seen[Site{p.Op, files.name(p.Where)}] = describeSpots(calls, files.layouts(p.Where))
	}
}

// step compares the next call of a rank. more is false if a replica hasn't made it yet.
func (r *rank) step(j Job) (more bool, err error) {
	for i, f := range r.replicas {
		if r.head[i] != nil {
			continue
		}
		e := new(Event)
		ok, err := f.nextCall(e)
		if !ok {
			return false, err
		}
		r.head[i], r.data[i] = e, f.strings.data
	}
	first := r.head[0]
	for i, e := range r.head[1:] {
		d := &Difference{Rank: r.number, Number: r.calls + 1, Replicas: [2]int{0, i + 1}, Calls: [2]Event{*first, *e}, order: j.Order}
		if d.Differs = control(first, e); d.Differs != nil {
			r.found = d
			return true, nil
		}
		if first.Payload != e.Payload {
			d.Differs = []string{"data"}
			r.payloads[Site{first.Op, first.Where}]++
			if r.payload == nil {
				r.payload = d
			}
			r.look(first, r.data[0], r.data[i+1])
			break
		}
	}
	if first.Kind == End {
		r.over = true
		return false, nil
	}
	r.calls++
	clear(r.head)
	return true, nil
}

// control names the fields of their control in which two calls differ.
func control(a, b *Event) (differs []string) {
	if (a.Kind == End) != (b.Kind == End) {
		return []string{"number of calls"}
	}
	note := func(different bool, what string) {
		if different {
			differs = append(differs, what)
		}
	}
	peer := "destination"
	if a.Kind == Collective {
		peer = "root"
	}
	if a.Kind != b.Kind {
		return []string{"function"} // a send and a collective have no other comparable fields
	}
	note(a.Op != b.Op, "function")
	note(a.Peer != b.Peer, peer)
	note(a.Tag != b.Tag, "tag")
	note(a.Context != b.Context, "communicator")
	note(a.Bytes != b.Bytes, "length")
	note(a.Bytes == b.Bytes && a.Shape != b.Shape, "lengths of the blocks")
	return differs
}

// Earlier says whether a difference came before another one.
func (d *Difference) Earlier(than *Difference) bool { return d.time() < than.time() }

// time is when a difference occurred first.
func (d *Difference) time() int64 { return min(d.Calls[0].Time, d.Calls[1].Time) }

// explain reads the records again and looks for the receive that most likely caused the difference.
func (d *Difference) explain(j Job) error {
	if d.Cause != nil {
		return nil
	}
	procs := j.Procs(d.Rank)
	var pair [2]*follower
	for i, k := range d.Replicas {
		pair[i] = &follower{path: FileOf(j.Dir, procs[k])}
		defer pair[i].close()
	}
	d.Differed, d.Before = 0, 0
	var calls [2]int
	for {
		var e [2]Event
		for i, f := range pair {
			ok, err := f.nextReceive(&e[i], &calls[i], d.Number)
			if !ok {
				return err
			}
		}
		d.Before++
		if a, b := &e[0], &e[1]; a.Peer != b.Peer || a.Tag != b.Tag || a.Context != b.Context {
			d.Differed++
			d.Cause = &Cause{d.Before, e}
		}
	}
}
