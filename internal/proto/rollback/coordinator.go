package rollback

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/proto"
)

// MaxRestarts is how often in a row a job goes back to one snapshot.
const MaxRestarts = 10

// A rank that hasn't come to a safe point within so many of the longest steps so far waits for one
// that stands. The limit is for ranks whose steps aren't known; they get a share of it at least.
const (
	steps      = 10
	leastShare = 60
)

// ActionKind says what an Action is.
type ActionKind uint8

// Kinds of actions.
const (
	Tell      ActionKind = iota // give Order to rank Rank
	Copy                        // copy Rank's part of Snapshot from host From to host To; then call Copied
	Commit                      // all hosts: Snapshot is the one to go back to; forget older ones
	Discard                     // all hosts: forget Snapshot
	Kill                        // kill all processes; each one's end is told to Died or Left
	Restart                     // start all processes, of epoch Epoch, from Snapshot; then call Began
	Abandoned                   // tell the user once why Snapshot wasn't taken: Text
	Fail                        // end the job: Text
)

// Action is something that a Coordinator wants done.
type Action struct {
	Kind     ActionKind
	Rank     proto.Rank
	Order    Order
	Snapshot Snapshot
	Epoch    Epoch
	From, To Host
	Text     string
}

// phase is what the job is doing.
type phase uint8

const (
	runs    phase = iota // no snapshot is being taken, or it is being copied
	holds                // waits for Holding
	stops                // waits for Paused
	saves                // waits for Captured
	fetches              // the epoch has begun; parts of the snapshot are copied to their ranks' hosts
	falls                // waits for the ends of all processes
	over
)

// member is what the Coordinator knows of a rank.
type member struct {
	alive, left bool
	home, buddy Host
	at          uint64
	step        proto.Time
	sent        []proto.Rank
	said        bool   // what the phase waits for
	copies      []Host // of its part of the committed snapshot
	fresh       []Host // of its part of the one that is being taken
	asked       []Host // where copies of the committed one are on their way to
}

// Coordinator leads the snapshots and rollbacks of a job. The caller carries out all actions of a
// call before the next call.
type Coordinator struct {
	disk      Snapshot // every how many snapshots one is copied to disk; 0: none is
	stored    Snapshot // the last one that is there
	limit     proto.Time
	epoch     Epoch
	committed Snapshot
	last      Snapshot // the last number that was given
	phase     phase
	loads     bool     // what stops and saves is a snapshot that is being loaded
	taking    Snapshot // that is being taken or copied; Beginning: none
	deadline  proto.Time
	restarts  int
	ending    bool // a process has left, or is about to: there are no more snapshots
	ranks     []member
}

// New makes the coordinator of a job. disk says of how many snapshots one has a copy on storage
// that no host takes with it; 0: none has. limit is how long ranks may take until a snapshot is
// captured.
func New(ranks int, disk uint64, limit proto.Time) *Coordinator {
	return &Coordinator{disk: Snapshot(disk), limit: limit, deadline: proto.Never, ranks: make([]member, ranks)}
}

// Resumes begins a job with a snapshot of another one, which is on disk. It is called before Began.
func (c *Coordinator) Resumes(n Snapshot) {
	c.committed, c.last, c.stored = n, n, n
	for i := range c.ranks {
		c.ranks[i].copies = []Host{Disk}
	}
}

// Epoch is the epoch of the processes that run.
func (c *Coordinator) Epoch() Epoch { return c.epoch }

// Committed is the snapshot to which the job would go back.
func (c *Coordinator) Committed() Snapshot { return c.committed }

// Began says where the processes of the present epoch were started, and where their second copies
// go: NoHost where there is no other host.
func (c *Coordinator) Began(home, buddy []Host, out *[]Action) {
	for i := range c.ranks {
		m := &c.ranks[i]
		m.alive, m.left, m.home, m.buddy, m.asked = true, false, home[i], buddy[i], nil
	}
	c.ending = false
	if c.committed == Beginning {
		c.phase = runs
		return
	}
	if c.lost(out) {
		return
	}
	c.phase = fetches
	for i := range c.ranks {
		if m := &c.ranks[i]; !slices.Contains(m.copies, m.home) {
			c.replicate(proto.Rank(i), m.home, out)
		}
	}
	c.fetched()
}

// replicate has a rank's part of the committed snapshot copied to a host.
func (c *Coordinator) replicate(r proto.Rank, to Host, out *[]Action) {
	m := &c.ranks[r]
	m.asked = append(m.asked, to)
	*out = append(*out, Action{Kind: Copy, Rank: r, Snapshot: c.committed, From: m.copies[0], To: to})
}

// fetched begins to load the snapshot when each rank's part is at its host. The ranks know that
// they are to stand at their first safe point.
func (c *Coordinator) fetched() {
	for i := range c.ranks {
		if m := &c.ranks[i]; !slices.Contains(m.copies, m.home) {
			return
		}
	}
	c.enter(stops)
	c.loads = true
	for i := range c.ranks {
		c.ranks[i].said = c.ranks[i].sent != nil
	}
}

// Take begins a snapshot. It does nothing while another one is being taken, or loaded, or after a
// process has begun to leave. It returns the snapshot's number, or Beginning.
func (c *Coordinator) Take(now proto.Time, out *[]Action) Snapshot {
	if c.phase != runs || c.taking != Beginning || c.ending {
		return Beginning
	}
	c.last++
	c.taking, c.deadline = c.last, now+c.limit
	c.enter(holds)
	c.tellAll(Order{Kind: Hold, Snapshot: c.taking}, out)
	return c.taking
}

// enter begins a phase in which all ranks are to say something.
func (c *Coordinator) enter(p phase) {
	c.phase = p
	for i := range c.ranks {
		c.ranks[i].said = false
	}
}

func (c *Coordinator) tellAll(o Order, out *[]Action) {
	for i := range c.ranks {
		*out = append(*out, Action{Kind: Tell, Rank: proto.Rank(i), Order: o})
	}
}

// allSaid notes what a rank has said, and tells whether all have.
func (c *Coordinator) allSaid(r proto.Rank) bool {
	c.ranks[r].said = true
	return !slices.ContainsFunc(c.ranks, func(m member) bool { return !m.said })
}

// Heard takes a report of a rank's process.
func (c *Coordinator) Heard(now proto.Time, r proto.Rank, x Report, out *[]Action) {
	if x.Epoch != c.epoch {
		return
	}
	m := &c.ranks[r]
	loading := c.loads && x.Snapshot == c.committed
	switch {
	case x.Kind == Paused && c.phase == fetches && x.Snapshot == c.committed:
		m.sent = append([]proto.Rank{}, x.Sent...) // until the parts are there
	case x.Snapshot != c.taking && !loading || x.Snapshot == Beginning:
	case x.Kind == Holding && c.phase == holds:
		m.at, m.step = x.At, x.Step
		if c.allSaid(r) {
			c.aim(now, out)
		}
	case x.Kind == Paused && c.phase == stops:
		m.sent = append([]proto.Rank{}, x.Sent...)
		if c.allSaid(r) {
			c.flush(x.Snapshot, out)
		}
	case x.Kind == Captured && c.phase == saves:
		if !loading {
			m.fresh = []Host{m.home}
		}
		if c.allSaid(r) {
			c.captured(out)
		}
	case x.Kind == Unable && loading && c.phase != falls:
		c.fail(fmt.Sprintf("%v can't go on from snapshot %d: %s", r, c.committed, x.Why), out)
	case x.Kind == Unable && c.phase >= holds && c.phase <= saves:
		c.abandon(fmt.Sprintf("%v %s", r, x.Why), out)
	}
}

// aim sends all ranks to the highest safe point that any of them may be on its way to. Where the
// time is known that they need from one to the next, they get some times that, and not more than
// the limit.
func (c *Coordinator) aim(now proto.Time, out *[]Action) {
	at, longest, known := uint64(0), proto.Time(0), true
	for i := range c.ranks {
		m := &c.ranks[i]
		at, longest, known = max(at, m.at), max(longest, m.step), known && m.step > 0
	}
	if known {
		c.deadline = now + min(c.limit, max(c.limit/leastShare, steps*longest))
	}
	c.enter(stops)
	c.tellAll(Order{Kind: Aim, Snapshot: c.taking, At: at}, out)
}

// flush tells each rank whose markers it gets.
func (c *Coordinator) flush(n Snapshot, out *[]Action) {
	from := make([][]proto.Rank, len(c.ranks))
	for i := range c.ranks {
		for _, to := range c.ranks[i].sent {
			from[to] = append(from[to], proto.Rank(i))
		}
		c.ranks[i].sent = nil
	}
	c.enter(saves)
	for i := range c.ranks {
		*out = append(*out, Action{Kind: Tell, Rank: proto.Rank(i), Order: Order{Kind: Flush, Snapshot: n, From: from[i]}})
	}
}

// captured lets all ranks go on, and has the copies made.
func (c *Coordinator) captured(out *[]Action) {
	c.phase, c.deadline = runs, proto.Never
	if c.loads {
		c.loads = false
		c.tellAll(Order{Kind: Resume, Snapshot: c.committed}, out)
		c.mend(out)
		return
	}
	c.tellAll(Order{Kind: Resume, Snapshot: c.taking}, out)
	for i := range c.ranks {
		m := &c.ranks[i]
		for _, to := range []Host{m.buddy, Disk} {
			if to == m.buddy && to != NoHost || to == Disk && c.toDisk() {
				*out = append(*out, Action{Kind: Copy, Rank: proto.Rank(i), Snapshot: c.taking, From: m.home, To: to})
			}
		}
	}
	c.commit(out)
}

// mend has second copies made of the committed snapshot where the first ones were lost.
func (c *Coordinator) mend(out *[]Action) {
	if c.committed == Beginning {
		return
	}
	for i := range c.ranks {
		if m := &c.ranks[i]; m.buddy != NoHost && !slices.Contains(m.copies, m.buddy) && !slices.Contains(m.asked, m.buddy) {
			c.replicate(proto.Rank(i), m.buddy, out)
		}
	}
}

// toDisk says whether the snapshot that is being taken goes to disk, too. Those that were abandoned
// count: they have taken their time.
func (c *Coordinator) toDisk() bool { return c.disk > 0 && c.taking-c.stored >= c.disk }

// commit commits the snapshot if all copies are there.
func (c *Coordinator) commit(out *[]Action) {
	for i := range c.ranks {
		m := &c.ranks[i]
		if !slices.Contains(m.fresh, m.home) || m.buddy != NoHost && !slices.Contains(m.fresh, m.buddy) ||
			c.toDisk() && !slices.Contains(m.fresh, Disk) {
			return
		}
	}
	for i := range c.ranks {
		m := &c.ranks[i]
		m.copies, m.fresh, m.asked = m.fresh, nil, nil
	}
	if c.toDisk() {
		c.stored = c.taking
	}
	c.committed, c.taking, c.restarts = c.taking, Beginning, 0
	*out = append(*out, Action{Kind: Commit, Snapshot: c.committed})
}

// Copied says that a rank's part of a snapshot is at another host, or why it isn't.
func (c *Coordinator) Copied(n Snapshot, r proto.Rank, to Host, problem string, out *[]Action) {
	m := &c.ranks[r]
	switch {
	case n == Beginning || c.phase == over:
	case n == c.taking && c.phase == runs:
		if problem != "" {
			c.abandon(fmt.Sprintf("the copy of %v's part can't be kept: %s", r, problem), out)
			return
		}
		m.fresh = append(m.fresh, to)
		c.commit(out)
	case n != c.committed:
	case problem == "":
		if !slices.Contains(m.copies, to) {
			m.copies = append(m.copies, to)
		}
		if c.phase == fetches {
			c.fetched()
			c.readyToFlush(out)
		}
	case c.phase == fetches && to == m.home:
		c.fail(fmt.Sprintf("snapshot %d of %v can't be brought to its host: %s", n, r, problem), out)
	}
}

// readyToFlush goes on with a snapshot that is loaded, if all ranks have paused meanwhile.
func (c *Coordinator) readyToFlush(out *[]Action) {
	if c.phase == stops && c.loads && !slices.ContainsFunc(c.ranks, func(m member) bool { return !m.said }) {
		c.flush(c.committed, out)
	}
}

// Deadline is when the caller has to call Tick.
func (c *Coordinator) Deadline() proto.Time { return c.deadline }

// Tick abandons a snapshot that takes too long.
func (c *Coordinator) Tick(now proto.Time, out *[]Action) {
	if now >= c.deadline && c.phase >= holds && c.phase <= saves {
		var late []string
		for i := range c.ranks {
			if !c.ranks[i].said {
				late = append(late, proto.Rank(i).String())
			}
		}
		c.abandon(fmt.Sprintf("not all ranks came to the same safe point in time (%s)", listed(late)), out)
	}
}

// abandon lets all ranks go on without the snapshot that is being taken.
func (c *Coordinator) abandon(why string, out *[]Action) {
	n := c.taking
	c.discard(out)
	c.phase, c.deadline = runs, proto.Never
	c.tellAll(Order{Kind: Resume, Snapshot: n}, out)
	if why != "" {
		*out = append(*out, Action{Kind: Abandoned, Snapshot: n, Text: why})
	}
}

// fail ends the job.
func (c *Coordinator) fail(why string, out *[]Action) {
	c.phase, c.deadline = over, proto.Never
	*out = append(*out, Action{Kind: Fail, Text: why})
}

// listed are the first of some names.
func listed(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
