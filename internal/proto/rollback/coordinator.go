package rollback

import (
	"fmt"
	"slices"

	"banyan/internal/layout"
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
	Tell      ActionKind = iota // give Order to process Proc
	Copy                        // copy the part of Snapshot that is at From to To; then call Copied
	Commit                      // all hosts: Snapshot is the one to go back to; forget older ones
	Discard                     // all hosts: forget Snapshot
	Kill                        // kill all processes; each one's end is told to Died or Left
	Restart                     // start all processes, of epoch Epoch, from Snapshot; then call Began
	Abandoned                   // tell the user once why Snapshot wasn't taken: Text
	Apart                       // tell the user that what was decided first isn't kept: Text
	Fail                        // end the job: Text
)

// Action is something that a Coordinator wants done.
type Action struct {
	Kind     ActionKind
	Proc     proto.Proc
	Order    Order
	Snapshot Snapshot
	Epoch    Epoch
	From, To Place
	Text     string
}

// phase is what the job is doing.
type phase uint8

const (
	runs    phase = iota // no snapshot is being taken, or it is being copied
	holds                // waits for Holding
	stops                // waits for Paused
	saves                // waits for Captured
	fetches              // the epoch has begun; parts of the snapshot are copied to their hosts
	falls                // waits for the ends of all processes
	over
	gathers // waits until all stand at their first safe points
)

// member is what the Coordinator knows of a process.
type member struct {
	alive, left bool
	joining     bool // a replacement is on its way to this slot, or isn't known to all yet
	home, buddy Host
	at          uint64
	step        proto.Time
	sent        []proto.Proc
	sends       uint64
	said        bool // what the phase waits for
}

// share is where the parts of a rank are.
type share struct {
	copies  []Place // of the committed snapshot
	fresh   []Place // of the one that is being taken
	awaited []Place // where else it has to be before it is committed
	asked   []Place // where copies of the committed one are on their way to
}

// Coordinator leads the snapshots and rollbacks of a job. The caller carries out all actions of a
// call before the next call.
type Coordinator struct {
	layout    layout.Layout
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
	ending    bool     // a process has left, or is about to: there are no more snapshots
	led       bool     // all ranks have replicas in leader order
	loose     bool     // not all have stood at their first safe points
	members   []member // by Proc
	shares    []share  // by rank
}

// New makes the coordinator of a job. disk says of how many snapshots one has a copy on storage
// that no host takes with it; 0: none has. limit is how long ranks may take until a snapshot is
// captured.
func New(l layout.Layout, disk uint64, limit proto.Time) *Coordinator {
	return &Coordinator{
		layout: l, disk: Snapshot(disk), limit: limit, deadline: proto.Never,
		members: make([]member, l.Procs()), shares: make([]share, l.Ranks()),
	}
}

// Resumes begins a job with a snapshot of another one, which is on disk. It is called before
// Began.
func (c *Coordinator) Resumes(n Snapshot) {
	c.committed, c.last, c.stored = n, n, n
	for r := range c.shares {
		c.shares[r].copies = []Place{c.onDisk(proto.Rank(r))}
	}
}

// onDisk is where a rank's part is on disk.
func (c *Coordinator) onDisk(r proto.Rank) Place { return Place{Disk, c.layout.Proc(r, 0)} }

// Epoch is the epoch of the processes that run.
func (c *Coordinator) Epoch() Epoch { return c.epoch }

// Committed is the snapshot to which the job would go back.
func (c *Coordinator) Committed() Snapshot { return c.committed }

// Loading says that the processes of the epoch don't have their state yet. Any death then begins
// another epoch.
func (c *Coordinator) Loading() bool { return c.loads || c.phase == fetches }

// Began says where the processes of the present epoch were started, NoHost for those that weren't,
// and where their second copies go: NoHost where there is no other host.
func (c *Coordinator) Began(home, buddy []Host, out *[]Action) {
	for i := range c.members {
		c.members[i] = member{alive: home[i] != NoHost, home: home[i], buddy: buddy[i], sent: c.members[i].sent}
	}
	for r := range c.shares {
		c.shares[r].asked = nil
	}
	c.ending, c.loose = false, false
	if c.committed == Beginning {
		c.gather()
		return
	}
	if c.lost(out) {
		return
	}
	c.phase = fetches
	for i := range c.members {
		switch at := c.homeOf(proto.Proc(i)); {
		case !c.members[i].alive:
		case slices.Contains(c.shareOf(at.Proc).copies, at):
			c.tellHere(at.Proc, out)
		default:
			c.replicate(at, out)
		}
	}
	c.fetched()
}

// homeOf is where a process keeps its part.
func (c *Coordinator) homeOf(p proto.Proc) Place { return Place{c.members[p].home, p} }

func (c *Coordinator) shareOf(p proto.Proc) *share { return &c.shares[c.layout.Rank(p)] }

// replicate has a part of the committed snapshot copied to a place: from the same host if there is
// one.
func (c *Coordinator) replicate(to Place, out *[]Action) {
	s := c.shareOf(to.Proc)
	s.asked = append(slices.Clone(s.asked), to)
	from := s.copies[0]
	if i := slices.IndexFunc(s.copies, func(x Place) bool { return x.Host == to.Host }); i >= 0 {
		from = s.copies[i]
	}
	*out = append(*out, Action{Kind: Copy, Snapshot: c.committed, From: from, To: to})
}

// fetched begins to load the snapshot when each process's part is at its host. The processes know
// that they are to stand at their first safe point.
func (c *Coordinator) fetched() {
	for i := range c.members {
		if at := c.homeOf(proto.Proc(i)); c.members[i].alive && !slices.Contains(c.shareOf(at.Proc).copies, at) {
			return
		}
	}
	c.enter(stops)
	c.loads = true
	for i := range c.members {
		c.members[i].said = c.members[i].sent != nil
	}
}

// Take begins a snapshot. It does nothing while another one is being taken, or loaded, while a
// replacement joins, or after a process has begun to leave. It returns the snapshot's number, or
// Beginning.
func (c *Coordinator) Take(now proto.Time, out *[]Action) Snapshot {
	if c.phase != runs || c.taking != Beginning || c.ending || c.joins() {
		return Beginning
	}
	c.last++
	c.taking, c.deadline = c.last, now+c.limit
	c.enter(holds)
	c.tellAll(Order{Kind: Hold, Snapshot: c.taking}, out)
	return c.taking
}

// enter begins a phase in which all processes are to say something.
func (c *Coordinator) enter(p phase) {
	c.phase = p
	for i := range c.members {
		c.members[i].said = false
	}
}

func (c *Coordinator) tellAll(o Order, out *[]Action) {
	for i := range c.members {
		if c.members[i].alive {
			*out = append(*out, Action{Kind: Tell, Proc: proto.Proc(i), Order: o})
		}
	}
}

// allSaid tells whether all live processes have said what the phase waits for.
func (c *Coordinator) allSaid() bool {
	return !slices.ContainsFunc(c.members, func(m member) bool { return m.alive && !m.said })
}

// Heard takes a report of a process.
func (c *Coordinator) Heard(now proto.Time, p proto.Proc, x Report, out *[]Action) {
	m := &c.members[p]
	if x.Epoch != c.epoch || !m.alive {
		return
	}
	loading := c.loads && x.Snapshot == c.committed
	said := func() bool {
		m.said = true
		return c.allSaid()
	}
	switch {
	case x.Kind == Came && c.phase == gathers:
		c.came(now, p, out)
	case x.Kind == Paused && c.phase == fetches && x.Snapshot == c.committed:
		m.sent, m.sends = append([]proto.Proc{}, x.Sent...), x.Sends // until the parts are there
	case x.Snapshot != c.taking && !loading || x.Snapshot == Beginning:
	case x.Kind == Holding && c.phase == holds:
		m.at, m.step = x.At, x.Step
		if said() {
			c.aim(now, out)
		}
	case x.Kind == Paused && c.phase == stops:
		m.sent, m.sends = append([]proto.Proc{}, x.Sent...), x.Sends
		if said() {
			c.flush(x.Snapshot, out)
		}
	case x.Kind == Captured && c.phase == saves:
		if said() {
			c.captured(out)
		}
	case x.Kind == Unable && loading && c.phase != falls:
		c.fail(fmt.Sprintf("%s can't go on from snapshot %d: %s", c.name(p), c.committed, x.Why), out)
	case x.Kind == Unable && c.phase >= holds && c.phase <= saves:
		c.abandon(fmt.Sprintf("%s %s", c.name(p), x.Why), out)
	}
}

// aim sends all processes to the highest safe point that any of them may be on its way to. Where
// the time is known that they need from one to the next, they get some times that, and not more
// than the limit.
func (c *Coordinator) aim(now proto.Time, out *[]Action) {
	at, longest, known := uint64(0), proto.Time(0), true
	for i := range c.members {
		if m := &c.members[i]; m.alive {
			at, longest, known = max(at, m.at), max(longest, m.step), known && m.step > 0
		}
	}
	if known {
		c.deadline = now + min(c.limit, max(c.limit/leastShare, steps*longest))
	}
	c.enter(stops)
	c.tellAll(Order{Kind: Aim, Snapshot: c.taking, At: at}, out)
}

// flush tells each process whose markers it gets, and how many messages each rank has sent. If
// replicas of a rank have sent different numbers they don't stand at the same place.
func (c *Coordinator) flush(n Snapshot, out *[]Action) {
	sends, differs := c.sent()
	if differs != proto.AnyRank && !c.loads {
		c.abandon(fmt.Sprintf("the replicas of %v have sent different numbers of messages up to their safe point", differs), out)
		return
	}
	from := make([][]proto.Proc, len(c.members))
	for i := range c.members {
		m := &c.members[i]
		if m.alive { // one that has died may have said so for a snapshot that was abandoned
			for _, to := range m.sent {
				from[to] = append(from[to], proto.Proc(i))
			}
		}
		m.sent = nil
	}
	c.enter(saves)
	for i := range c.members {
		if c.members[i].alive {
			*out = append(*out, Action{Kind: Tell, Proc: proto.Proc(i), Order: Order{Kind: Flush, Snapshot: n, From: from[i], Sends: sends, Repeats: c.led && !c.loose}})
		}
	}
}

// sent is how many messages each rank has sent, nil where ranks have no replicas, and a rank whose
// replicas have sent different numbers, AnyRank if there is none.
func (c *Coordinator) sent() (sends []uint64, differs proto.Rank) {
	if !c.layout.Replicated() {
		return nil, proto.AnyRank
	}
	sends = make([]uint64, len(c.shares))
	known := make([]bool, len(c.shares))
	for i := range c.members {
		m, r := &c.members[i], c.layout.Rank(proto.Proc(i))
		switch {
		case !m.alive:
		case known[r] && sends[r] != m.sends:
			return sends, r
		default:
			sends[r], known[r] = m.sends, true
		}
	}
	return sends, proto.AnyRank
}

// captured lets all processes go on, and has the copies made.
func (c *Coordinator) captured(out *[]Action) {
	c.phase, c.deadline = runs, proto.Never
	if c.loads {
		c.loads = false
		c.tellAll(Order{Kind: Resume, Snapshot: c.committed}, out)
		c.mend(out)
		return
	}
	c.tellAll(Order{Kind: Resume, Snapshot: c.taking}, out)
	for i := range c.members {
		if p := proto.Proc(i); c.members[i].alive {
			s := c.shareOf(p)
			s.fresh = append(slices.Clone(s.fresh), c.homeOf(p))
		}
	}
	for r := range c.shares {
		s := &c.shares[r]
		if to, lacks := c.second(proto.Rank(r), s.fresh); lacks {
			s.awaited = append(s.awaited, to)
		}
		if c.toDisk() {
			s.awaited = append(s.awaited, c.onDisk(proto.Rank(r)))
		}
		for _, to := range s.awaited {
			*out = append(*out, Action{Kind: Copy, Snapshot: c.taking, From: s.fresh[0], To: to})
		}
	}
	c.commit(out)
}

// second is where a rank's second copy goes, if all that it has are on one host, and there is
// another one. Replicas on other hosts are the buddies of each other.
func (c *Coordinator) second(r proto.Rank, copies []Place) (to Place, lacks bool) {
	var on []Host
	for _, x := range copies {
		if x.Host != Disk {
			on = append(on, x.Host)
			to.Proc = x.Proc
		}
	}
	if len(on) == 0 || len(slices.Compact(slices.Sorted(slices.Values(on)))) > 1 {
		return to, false
	}
	for k := range c.layout.Degree(r) {
		if m := &c.members[c.layout.Proc(r, k)]; m.alive {
			for _, h := range []Host{m.buddy, m.home} {
				if h != on[0] && h != NoHost {
					return Place{h, to.Proc}, true
				}
			}
		}
	}
	return to, false
}

// mend has second copies made of the committed snapshot where they were lost.
func (c *Coordinator) mend(out *[]Action) {
	if c.committed == Beginning {
		return
	}
	for r := range c.shares {
		s := &c.shares[r]
		if to, lacks := c.second(proto.Rank(r), s.copies); lacks && !slices.Contains(s.asked, to) {
			c.replicate(to, out)
		}
	}
}

// toDisk says whether the snapshot that is being taken goes to disk, too. Those that were
// abandoned count: they have taken their time.
func (c *Coordinator) toDisk() bool { return c.disk > 0 && c.taking-c.stored >= c.disk }

// commit commits the snapshot if all copies are there.
func (c *Coordinator) commit(out *[]Action) {
	for r := range c.shares {
		s := &c.shares[r]
		if len(s.fresh) == 0 || slices.ContainsFunc(s.awaited, func(x Place) bool { return !slices.Contains(s.fresh, x) }) {
			return
		}
	}
	for r := range c.shares {
		c.shares[r] = share{copies: c.shares[r].fresh}
	}
	if c.toDisk() {
		c.stored = c.taking
	}
	c.committed, c.taking, c.restarts = c.taking, Beginning, 0
	*out = append(*out, Action{Kind: Commit, Snapshot: c.committed})
}

// Copied says that a part of a snapshot is at a place, or why it isn't.
func (c *Coordinator) Copied(n Snapshot, to Place, problem string, out *[]Action) {
	s := c.shareOf(to.Proc)
	switch {
	case n == Beginning || c.phase == over:
	case n == c.taking && c.phase == runs:
		if problem != "" {
			c.abandon(fmt.Sprintf("the copy of %s's part can't be kept: %s", c.name(to.Proc), problem), out)
			return
		}
		s.fresh = append(slices.Clone(s.fresh), to)
		c.commit(out)
	case n != c.committed:
	case problem == "":
		if !slices.Contains(s.copies, to) {
			s.copies = append(slices.Clone(s.copies), to)
		}
		if c.phase == fetches {
			if m := &c.members[to.Proc]; m.alive && to == c.homeOf(to.Proc) {
				c.tellHere(to.Proc, out)
			}
			c.fetched()
			c.readyToFlush(out)
		}
	case c.phase == fetches && to == c.homeOf(to.Proc):
		c.fail(fmt.Sprintf("snapshot %d of %s can't be brought to its host: %s", n, c.name(to.Proc), problem), out)
	}
}

// readyToFlush goes on with a snapshot that is loaded, if all processes have paused meanwhile.
func (c *Coordinator) readyToFlush(out *[]Action) {
	if c.phase == stops && c.loads && c.allSaid() {
		c.flush(c.committed, out)
	}
}

// Deadline is when the caller has to call Tick.
func (c *Coordinator) Deadline() proto.Time { return c.deadline }

// Tick abandons a snapshot that takes too long.
func (c *Coordinator) Tick(now proto.Time, out *[]Action) {
	switch {
	case now < c.deadline:
	case c.phase == gathers:
		c.apart(out)
	case c.phase >= holds && c.phase <= saves:
		c.abandon(fmt.Sprintf("not all ranks came to the same safe point in time (%s)", c.late()), out)
	}
}

// abandon lets all processes go on without the snapshot that is being taken.
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
