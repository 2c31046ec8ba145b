// Package process is one process of a job: its protocol machines and the
// routing between them.
//
// Calls of the program go down (Send, Recv, Broadcast, Finish), frames come up
// (the transport.Sink methods), and a death goes sideways: from the detector to
// replication, to the broadcasts, to the shutdown barrier and to every wait that can't
// end well any more. What each does with it is decided in the machines below
// internal/proto; this package only carries it from one to the next and keeps
// the program's requests.
//
// # Invariants
//
//   - No clock, goroutine or lock: a Process runs under the progress engine,
//     which owns all three, or under a test.
//   - Matching sees world ranks and never a duplicate: replication is below it.
//   - A request ends once, with a status or an error; no request outlives the
//     death that makes it hopeless.
//   - Once its pools are warm, a message allocates nothing.
//
// # Limits
//
// Unexpected messages are kept without a bound of their own: a sender that
// never waits can fill a receiver's memory, with replicas or without. But with mirror a replica keeps little more of them
// than another of its rank (skewLimit). Retained and queued bytes are
// bounded by back-pressure (see retainLimit and queueLimit).
package process

import (
	"cmp"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/causal"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/match"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/replica"
	"banyan/internal/proto/shutdown"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
	"banyan/internal/topology"
)

const (
	// EagerLimit is the largest message in bytes that is sent unasked. Larger
	// ones are offered, and travel when the receiver asks for them.
	EagerLimit = 64 << 10

	// fragmentSize is how much of a large message one frame carries, and
	// fragmentsInFlight how many of them may wait in the transport: enough
	// to keep a link busy, little enough that a heartbeat isn't stuck behind.
	fragmentSize      = 512 << 10
	fragmentsInFlight = 2

	// queueLimit is how many bytes may wait for one peer before sends to it
	// stop completing at once.
	queueLimit = 4 << 20
	// retainLimit is the same for bytes kept for other replicas. It can't
	// deadlock: the replica that lags behind holds nothing unacknowledged.
	retainLimit = 256 << 20
	// retainCost is about what a message of no bytes takes.
	retainCost = 256

	// acksOwedLimit bounds how many arrivals wait to be acknowledged together,
	// acksOwedBytes how many bytes, acksOwedTime for how long: what isn't acknowledged is kept
	// by other replicas, in memory that had better stay in their caches.
	acksOwedLimit = 64
	acksOwedBytes = 32 << 10
	acksOwedTime  = proto.Time(5e6)
)

// Net is the part of a transport that a process sends by.
type Net interface {
	Send(to proto.Proc, h *wire.Header, payload []byte, token uint64)
	Queued(to proto.Proc) int
	Fence(p proto.Proc)
}

// Host hears what concerns the process as a whole. Its methods are called from
// within the Process's and must not call back.
type Host interface {
	// Died is called once for each death this process learns of.
	Died(r detector.Report)
	// RankLost follows Died when no replica of the rank is left.
	RankLost(r proto.Rank)
	// Viewed is called for each view after the first that comes into force
	// here. Coordinator says that this process brought it about.
	Viewed(v *membership.View, coordinator bool)
	// Minority is called when too few members are left, those gone being
	// merely silent, to go on: this process must stop.
	Minority(gone []membership.Departure)
	// Fenced is called when the job holds this very process for dead.
	Fenced(by proto.Proc)
	// Aborted is called when a process of the job called Abort.
	Aborted(by proto.Proc, code int)
	// HealFailed is called when this process, started to fill the place of a dead
	// one, can't: it must stop.
	HealFailed(err error)
	// Heals tells of a step of a healing that the launcher has a part in.
	Heals(step HealStep)
	// SafepointWanted tells of each change of Process.SafepointWanted.
	SafepointWanted(wanted bool)
}

// Config says who the process is.
type Config struct {
	Self   proto.Proc
	Layout layout.Layout
	// Mirror makes all replicas of a sender send to all of the receiver.
	Mirror bool
	// Period and Timeout are the detector's η and δ in nanoseconds.
	Period, Timeout proto.Time
	// Witness says that a launcher sees every death and tells all processes.
	Witness bool
	// Hosts is the number of the host of each process, for the order of the
	// ring of heartbeats; nil if unknown. It is the same at all processes.
	Hosts []int32
	// SharedMemory says that processes of one host read each other's memory, but
	// where the system refuses. It is the same at all processes.
	SharedMemory bool
	// Heal says that dead replicas are replaced: what is received before the first
	// safe point is kept for replacements. Replacement says that this process is one.
	Heal, Replacement bool
	// Lives are the incarnations of all processes, and Gone those known to be dead, at a
	// replacement. nil: all are 0, nobody is.
	Incarnations []proto.Incarnation
	Gone         []bool
	// Memory is what buffers of messages are made of, up to MemorySize; what it doesn't suffice
	// for is allocated.
	Memory []byte
	// Recorder records what happens; nil if nobody wants to know.
	Recorder Recorder
	// Corrupted, if set, has the data that replicas send compared (verify.go). It is told of
	// what differs, from within the Process, and must not call back.
	Corrupted func(c Corruption)
	// Perturb, if not 0, is the seed of delays that let messages and the ends of
	// requests come in other orders (perturb.go). Replicated jobs only.
	Perturb uint64

	skewLimit uint64 // in tests: instead of skewLimit
}

// Process is one process of a job. It implements transport.Sink.
type Process struct {
	cfg        Config
	rank       proto.Rank
	replicated bool // ranks have several replicas
	net        Net
	direct     transport.DirectReader // net, if it is one
	host       Host
	now        proto.Time // of the current step

	replica     *replica.Machine
	detector    *detector.Machine
	ring        *topology.Ring // that of the detector's first view
	shutdown    *shutdown.Machine
	members     *membership.Machine
	match       *match.Queues
	clock       *causal.Clock // replicated jobs only
	history     *history      // replicated jobs with healing only
	replay      *replay       // replacements before their first safe point only
	preparedFor proto.Proc    // the replacement for which messages are kept that it doesn't get yet; NoProc if none
	retainLimit uint64        // the constant, but in tests
	donation    *donation     // nil unless this process is a donor
	joining     *joining      // replacements only
	healable    bool          // the rank can be healed from here
	noted       bool          // the launcher knows
	input       int64         // how much the launcher says has been read of the input

	requests   slab[request]
	messages   slab[message]
	arrivals   slab[arrival]
	transfers  slab[transfer]
	buffers    buffers
	composites composites

	contexts     map[uint64]*context
	recent       [2]*context           // the contexts looked up last, the even and the odd, or nil
	active       []*context            // contexts whose stream may want to send
	orphans      map[uint64][]orphan   // broadcast frames of contexts not yet open
	forgotten    [keepForgotten]uint64 // contexts forgotten last: their late frames are dropped
	forgets      int                   // how many ever
	throttled    []Handle              // sends that wait for room
	early        []early               // messages that wait for their cause
	concurrent   bool                  // several threads of the program have waited at the same time
	perturb      *perturbation         // nil: the timing is left alone
	verifying    *verifying            // nil: what replicas send isn't compared
	alternatives []alternative         // offers of other senders of what is being received
	redirects    []replica.Action      // to be carried out
	reading      []Handle              // arrivals whose data is being read from the sender's memory
	lost         []lostPeer            // connections that broke without proof of a death

	// Outputs of the machines, reused.
	replicaOut  replica.Actions
	detectorOut detector.Actions
	shutdownOut shutdown.Actions
	membersOut  membership.Actions
	header      wire.Header
	scratch     []byte
	first       []byte     // of a message that isn't retained
	owedBytes   int        // arrived, and not acknowledged
	ackBy       proto.Time // when those are due that are owed; 0: now
	acks        []wire.Ack

	peers       peers
	installed   bool               // the detector has been given a view
	growing     bool               // somebody has joined a view
	views       []*membership.View // for the detector
	finishing   bool               // the program is through: refuse offers
	anyRankLost bool               // a rank is lost
	// introduced counts those at distance 2, 4, 8… on the ring that were met.
	introduced int
	finished   bool // every live process is through
	fenced     bool
	closed     bool

	// FramesSent counts the frames handed to the network.
	FramesSent uint64

	// Changes counts what somebody may wait for: requests that have ended,
	// messages kept for a receive or a probe, ranks lost.
	Changes uint64
}

// New makes a process at time now. It sends its first heartbeat at once.
func New(cfg Config, now proto.Time, net Net, host Host) *Process {
	p := &Process{
		cfg:        cfg,
		rank:       cfg.Layout.Rank(cfg.Self),
		replicated: cfg.Layout.Replicated(),
		net:        net,
		host:       host,
		now:        now,
		ring:       ringOf(&cfg),
		replica:    replica.New(replica.Config{Layout: cfg.Layout, Self: cfg.Self, Mirror: cfg.Mirror, Lead: cmp.Or(cfg.skewLimit, skewLimit)}),
		match:      match.New(),
		contexts:   make(map[uint64]*context),
		orphans:    make(map[uint64][]orphan),
		buffers:    buffers{memory: cfg.Memory},

		preparedFor: proto.NoProc,
		retainLimit: retainLimit,
		peers:       newPeers(cfg.Layout.Procs()),
	}
	p.direct, _ = net.(transport.DirectReader)
	if p.replicated {
		p.clock = causal.New(p.rank, cfg.Layout.Ranks())
		p.perturb = newPerturbation(cfg.Perturb)
		p.verifying = p.newVerifying()
		if cfg.Heal || cfg.Replacement {
			p.history = &history{}
		}
		if cfg.Replacement {
			p.replay = p.newReplay()
		}
	}
	p.begin(now)
	return p
}

// Rank is the process's rank in the world.
func (p *Process) Rank() proto.Rank { return p.rank }

// Alive tells whether a process is in the job, as far as is known here.
func (p *Process) Alive(q proto.Proc) bool {
	return p.peers[q].state == peerJoining || p.detector.Alive(q)
}

// present tells whether a process is in the job and hasn't left it in order.
func (p *Process) present(q proto.Proc) bool { return p.peers[q].state != peerLeft && p.Alive(q) }

// At sets the time of the calls that follow.
func (p *Process) At(now proto.Time) { p.now = now }

// Deadline is the time of the next Tick that is needed.
func (p *Process) Deadline() proto.Time {
	d := p.detector.Deadline()
	if p.replica.AcksOwed() > 0 {
		d = min(d, p.ackBy)
	}
	if p.members != nil {
		d = min(d, p.members.Deadline())
	}
	for _, c := range p.active {
		d = min(d, c.stream.Deadline())
	}
	for _, l := range p.lost {
		d = min(d, l.until)
	}
	if p.perturb != nil {
		d = min(d, p.perturb.deadline())
	}
	return d
}

// Tick lets time pass. It is called at the Deadline or later.
func (p *Process) Tick() {
	p.detector.Tick(p.now, &p.detectorOut)
	p.runDetector()
	if p.members != nil && p.now >= p.members.Deadline() {
		p.members.Tick(p.now, &p.membersOut)
		p.runMembership()
	}
	p.adoptViews()
	if p.now >= p.ackBy {
		p.flushAcks()
	}
	for _, c := range p.active {
		c.stream.Tick(p.now, &c.out)
		p.runStream(c)
	}
	p.expireLost()
	if p.perturb != nil {
		p.releaseLate()
	}
}

// Work does what is best done when nothing more has been received: it
// lets every broadcast send one more message, and lets
// sends go on that waited for room. It reads on what is being
// read from other processes' memory. It reports whether it read, or a broadcast sent.
func (p *Process) Work() bool {
	read := p.readOn()
	p.releaseThrottled()
	if p.preparedFor != proto.NoProc && len(p.throttled) > 0 && !p.retainsLittle() {
		p.dropReplacement(p.preparedFor)
	}
	if len(p.views) > 0 {
		p.adoptViews()
	}
	if p.donation != nil && p.pumpDonation() {
		read = true
	}
	return p.pumpStreams() || read
}

// oweAck has what has arrived acknowledged: now, if that is much, else some time. Nobody waits for
// it, and who is told of few messages at a time is woken for it again and again.
func (p *Process) oweAck(bytes int) {
	p.owedBytes += bytes
	switch n := p.replica.AcksOwed(); {
	case n >= acksOwedLimit || p.owedBytes >= acksOwedBytes:
		p.flushAcks()
	case n > 0 && p.ackBy == 0:
		p.ackBy = p.now + acksOwedTime
	}
}

// flushAcks tells other replicas what has arrived.
func (p *Process) flushAcks() {
	if p.replica.AcksOwed() > 0 {
		p.owedBytes, p.ackBy = 0, 0
		p.replica.FlushAcks(&p.replicaOut)
		p.runReplica()
	}
}

// send sends a frame and remembers the acquaintance. A fenced process is silent:
// those who haven't heard of it yet would believe what it says.
func (p *Process) send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if p.fenced || p.closed {
		return
	}
	p.peers[to].contacted = true
	p.FramesSent++
	if p.cfg.Recorder != nil {
		p.cfg.Recorder.Sent(to, h.Kind)
	}
	p.net.Send(to, h, payload, token)
}

// nextHeader gives the cleared header to fill for the next frame.
func (p *Process) nextHeader(k wire.Kind) *wire.Header {
	p.header = wire.Header{Kind: k}
	return &p.header
}
