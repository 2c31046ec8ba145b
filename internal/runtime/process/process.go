// Package process is one process of a job: its protocol machines and the routing between
// them.
//
// Calls of the program go down (Send, Receive, Broadcast, Finish), frames come up (the
// methods of transport.Sink), and a death goes sideways: from the detector to replication, to
// the broadcasts, to the shutdown barrier and to every wait that can't end well any more. The
// machines in internal/proto decide what each does with it. This package only carries it from
// one to the next, and keeps the program's requests.
//
// # Parts
//
// A Process connects parts that each have a file, or a few, of their own:
//
//   - peers (peer.go): which processes are alive, joining or dead, or have left, and in
//     which incarnation;
//   - liveness (liveness.go, detection.go, death.go, members.go, admission.go, broken.go): the
//     detector, the views, connections that broke;
//   - sends and receives (send.go, transfer.go, throttle.go; receive.go, rendezvous.go, direct.go,
//     attend.go, zerocopy.go, early.go, layers.go, alternatives.go, payload.go; retract.go):
//     messages of the program;
//   - contexts (contexts.go, broadcast.go, closing.go): communicators and their broadcasts;
//   - acks (acks.go): what is owed to other replicas;
//   - healing (healing.go, donation.go, joining.go, snapshot.go, log.go, replay.go): replacements
//     of dead replicas;
//   - lifecycle (leave.go): how this process ends;
//   - through (through.go): waits for a rank that has finished;
//   - leader order (order.go, decisions.go, held.go, outbox.go, ledthreads.go, ledhealing.go):
//     what timing decides;
//   - tolerance (failures.go, tolerance.go, agreements.go, revoked.go): what programs do that
//     handle failures themselves;
//   - thinned (thinned.go, masked.go): a job with replicas that goes on after the loss of a rank;
//   - requests (request.go, composite.go, waits.go), in which the program waits;
//   - verification (verify.go) and perturbed timing (perturb.go), where they are asked for.
//
// # Invariants
//
//   - There is no clock, goroutine or lock here: a Process runs under the engine, which has
//     all three, or under a test.
//   - Matching sees world ranks and never a duplicate: replication is below it.
//   - A request ends once, with a status or an error. No request outlives the death that
//     makes it hopeless.
//   - Once its pools are warm, a message allocates nothing.
//
// # Limits
//
// Unexpected messages are kept without a bound of their own: a sender that never waits can
// fill a receiver's memory, with replicas or without. With mirror, however, a replica keeps
// little more of them than another of its rank (skewLimit). Back-pressure bounds retained and
// queued bytes (see retainLimit and queueLimit).
package process

import (
	"cmp"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/proto/causal"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/match"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/replica"
	"banyan/internal/proto/shutdown"
	"banyan/internal/proto/thinning"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// Net is the part of a transport that a process sends by.
type Net interface {
	Send(to proto.Proc, h *wire.Header, payload []byte, token uint64)
	Queued(to proto.Proc) int
	Fence(p proto.Proc)
}

// Host hears what concerns the process as a whole. Its methods are called from within the
// Process's and must not call back.
type Host interface {
	// Died is called once for each death that this process learns of.
	Died(r detector.Report)
	// RankLost follows Died when no replica of the rank is left, and the program may know of it.
	RankLost(r proto.Rank)
	// Revoked is called when a communicator is revoked here, which is named by its context of
	// point-to-point messages.
	Revoked(context uint64)
	// Viewed is called for each view after the first that comes into force here. coordinator
	// says that this process brought it about.
	Viewed(v *membership.View, coordinator bool)
	// Minority is called when too few members are left to go on, and those gone are merely
	// silent: this process must stop.
	Minority(gone []membership.Departure)
	// Apart is called when this process and another one can't reach each other, though others
	// reach both: this process must stop.
	Apart(from proto.Proc)
	// Fenced is called when the job takes this very process for dead.
	Fenced(by proto.Proc)
	// Aborted is called when a process of the job called Abort.
	Aborted(by proto.Proc, code int)
	// HealFailed is called when this process is a replacement and can't join: it must stop.
	HealFailed(err error)
	// Heals tells of a step of a healing in which the launcher has a part.
	Heals(step HealStep)
	// SafepointWanted tells of each change of Process.SafepointWanted.
	SafepointWanted(wanted bool)
}

// ThinHost is what a Host has to hear too with Config.Thins.
type ThinHost interface {
	// RankGone follows Died when no replica of the rank is left. RankLost comes when it shows.
	RankGone(r proto.Rank)
	// Settled is called when this process owes nothing, and when nobody claims anything of it any
	// more, with how often it was told what others claim, and the agreements that have ended here.
	Settled(told uint64, results []thinning.Result)
	// Claims is called when this process owes, or is claimed itself, and what it has waited for
	// for long has changed.
	Claims(claims []thinning.Claim)
	// Outrun is called when another rank has messages of this one that this process can never
	// send: it must stop.
	Outrun(to proto.Rank)
}

// Config describes the process and its job.
type Config struct {
	Self   proto.Proc
	Layout layout.Layout
	// Mirror makes all replicas of a sender send to all replicas of the receiver.
	Mirror bool
	// Leader has one replica of each rank decide what timing decides, for programs that aren't
	// send-deterministic (order.go). With Auto it does so from the first call on that timing
	// can decide, of which FirstDecision, if set, is told in words before its outcome, from
	// within the Process. FirstDecision must not call back.
	Leader, Auto  bool
	FirstDecision func(call string)
	// Period and Timeout are the detector's η and δ in nanoseconds.
	Period, Timeout proto.Time
	// Witness says that a launcher sees every death and tells all processes.
	Witness bool
	// Thins says that a launcher leads a replicated job on when a rank is lost (thinned.go). The
	// host is a ThinHost.
	Thins bool
	// Leased is not 0 if agents with leases decide which side of a cut goes on, in place of a
	// quorum of the processes (leased.go). A host that is lost is known for certain, to those
	// who go on, within so many nanoseconds.
	Leased proto.Time
	// Hosts is the number of the host of each process, for the order of the ring of
	// heartbeats; nil if unknown. It is the same at all processes.
	Hosts []int32
	// SharedMemory says that processes of one host read each other's memory, unless the
	// system refuses. It is the same at all processes.
	SharedMemory bool
	// Scheme, if it is named, is what all broadcasts of an unreplicated job run. It is valid,
	// and the same at all processes.
	Scheme broadcast.Scheme
	// Heal says that dead replicas are replaced: what is received before the first safe
	// point is kept for replacements. Replacement says that this process is one.
	Heal, Replacement bool
	// Incarnations are those of all processes, and Gone the ones known to be dead; of a
	// replacement only. nil: all incarnations are 0, no process is dead.
	Incarnations []proto.Incarnation
	Gone         []bool
	// Memory is used for buffers of messages, up to MemorySize. Buffers beyond it are
	// allocated.
	Memory []byte
	// Recorder records what happens; nil: nothing is recorded.
	Recorder Recorder
	// Corrupted, if set, has the data that replicas send compared (verify.go). It is told of
	// differences, from within the Process, and must not call back.
	Corrupted func(c Corruption)
	// Marker, if set, is told of the markers of snapshots (rollback.go), from within the
	// Process, and must not call back.
	Marker func(from proto.Proc, snapshot uint64)
	// Perturb, if not 0, is the seed of delays that let messages and the ends of requests
	// come in other orders (perturb.go). Replicated jobs only.
	Perturb uint64
	// AckEach has each message acknowledged when it arrives, in a frame of its own, as the
	// paper has it (acks.go). It is there to measure what that costs.
	AckEach bool
	// TypeName names a type of data by its number, "" if it is unknown here. It is called for
	// other processes, from within the Process, and must not call back.
	TypeName func(t uint32) string
	// Counts and Requests, if set, are where matching counts what waits, and the process its
	// requests.
	Counts   *match.Counts
	Requests *int

	skewLimit uint64     // in tests: instead of the constant
	askAfter  proto.Time // in tests: instead of the constant
}

// Process is one process of a job. It implements transport.Sink.
type Process struct {
	cfg        Config
	rank       proto.Rank
	replicated bool // ranks have several replicas
	net        Net
	direct     transport.DirectReader // net, if it is one
	nudger     transport.Nudger       // net, if it is one
	preserver  transport.Preserver    // net, if it is one
	host       Host
	now        proto.Time // of the current step

	// Machines that no part below has, with their outputs, which are reused.
	replica     *replica.Machine
	replicaOut  replica.Actions
	match       *match.Queues
	clock       *causal.Clock // replicated jobs only
	shutdown    *shutdown.Machine
	shutdownOut shutdown.Actions

	peers     peers
	liveness  liveness
	sends     sends
	receives  receives
	attention attention
	contexts  contexts
	acks      ackState
	healing   healing
	lifecycle lifecycle
	through   through
	typeNames map[uint32]string // that other processes have told
	tolerance tolerance
	thinned   thinned

	requests   slab[request]
	unended    *int // how many requests were not taken yet
	composites composites
	graduals   graduals
	layers     layers
	concurrent bool     // several threads of the program have communicated at the same time
	special    bool     // some receives take the long way (specially): concurrent, or in leader order
	watched    bool     // somebody is told which message a receive takes: with mirror, or in leader order
	order      *ordered // nil: nobody decides what timing decides
	once       onces
	perturb    *perturbation // nil: the timing is left alone
	verifying  *verifying    // nil: what replicas send isn't compared

	buffers buffers
	header  wire.Header // of the next frame
	scratch []byte      // for its payload

	// FramesSent counts the frames handed to the network.
	FramesSent uint64

	// BytesRead counts the bytes of large messages that were read from their senders' memory.
	BytesRead uint64

	// Heartbeats counts those that the detector sends and hears.
	Heartbeats Heartbeats

	// Changes counts what a wait may wait for: requests that have ended, messages kept for a
	// receive or a probe, ranks lost.
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
		replica:    replica.New(replica.Config{Layout: cfg.Layout, Self: cfg.Self, Mirror: cfg.Mirror, MaxSkew: cmp.Or(cfg.skewLimit, skewLimit), Joins: cfg.Replacement}),
		unended:    cmp.Or(cfg.Requests, new(int)),
		match:      match.NewCounted(cmp.Or(cfg.Counts, &match.Counts{})),
		contexts:   newContexts(),
		buffers:    buffers{memory: cfg.Memory},
		peers:      newPeers(cfg.Layout.Procs()),
		sends:      sends{retainLimit: retainLimit},
		liveness:   liveness{ring: ringOf(&cfg), beside: proto.NoProc},
		acks:       ackState{AckPace: replica.NewAckPace(cfg.AckEach)},
		through:    through{next: proto.Never},
	}
	p.watched = cfg.Mirror
	p.beginThinned()
	p.beginOrder()
	p.beginOnce()
	p.direct, _ = net.(transport.DirectReader)
	p.nudger, _ = net.(transport.Nudger)
	p.preserver, _ = net.(transport.Preserver)
	if p.replicated {
		p.clock = causal.New(p.rank, cfg.Layout.Ranks())
		p.beginLayers()
		p.perturb = newPerturbation(cfg.Perturb)
		p.verifying = p.newVerifying()
		if cfg.Heal || cfg.Replacement {
			p.healing.history = &history{}
		}
		if cfg.Replacement {
			p.healing.replay = newReplay(p.order != nil)
		}
	}
	p.begin(now)
	return p
}

// Rank is the process's rank in the world.
func (p *Process) Rank() proto.Rank { return p.rank }

// Alive tells whether a process isn't known to be dead. A member that has left in order counts.
func (p *Process) Alive(q proto.Proc) bool {
	return p.peers[q].state == peerJoining || p.liveness.detector.Alive(q)
}

// present tells whether a process is in the job and hasn't left it in order.
func (p *Process) present(q proto.Proc) bool { return p.peers[q].state != peerLeft && p.Alive(q) }

// At sets the time of the calls that follow.
func (p *Process) At(now proto.Time) { p.now = now }

// Deadline is the time of the next Tick that is needed.
func (p *Process) Deadline() proto.Time {
	d := min(p.liveness.deadline(), p.contexts.deadline(), p.through.next)
	if p.replica.AcksOwed() > 0 {
		d = min(d, p.acks.Due)
	}
	if p.perturb != nil {
		d = min(d, p.perturb.deadline())
	}
	if p.order != nil {
		d = min(d, p.order.deadline())
	}
	return d
}

// Tick lets time pass. It is called at the Deadline or later.
func (p *Process) Tick() {
	p.tickLiveness()
	if p.now >= p.acks.Due {
		p.flushAcks()
	}
	for _, c := range p.contexts.active {
		c.stream.Tick(p.now, &c.out)
		p.runStream(c)
	}
	p.expireBroken()
	if p.perturb != nil {
		p.releaseLate()
	}
	if p.order != nil && p.now >= p.order.deadline() {
		p.tellDecisions()
	}
	if p.now >= p.through.next {
		p.lookAtWaits()
	}
}

// Work does what is best done when nothing more has been received. Every broadcast may send
// one more frame, throttled sends go on for which there is room, and what is being read from
// the memory of other processes is read on. It reports whether it read, or a broadcast sent.
func (p *Process) Work() bool {
	read := p.readOn()
	p.releaseThrottled()
	p.settleThinned()
	if len(p.healing.preparedFor) > 0 && len(p.sends.throttled) > 0 && !p.retainsLittle() {
		p.askToGiveUp()
	}
	if len(p.liveness.views) > 0 {
		p.adoptViews()
	}
	if p.healing.donation != nil && p.pumpDonation() {
		read = true
	}
	return p.pumpStreams() || read
}

// send sends a frame and notes the contact. A fenced process is silent: processes that haven't
// heard of its eviction yet would believe what it says.
func (p *Process) send(to proto.Proc, h *wire.Header, payload []byte, token uint64) {
	if p.lifecycle.fenced || p.lifecycle.closed {
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
