package groupnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"banyan/internal/groupnode/poller"
	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
)

// Member is one member of a group, from Join to its end. One goroutine, the loop, runs the two
// machines and waits for what comes on connections; others make connections and pass them to it.
type Member struct {
	cfg    Config
	log    *slog.Logger
	card   Card
	socket *net.TCPListener
	// presence is held while the member lives; nil if it can't be.
	presence *net.UnixConn
	warned   atomic.Bool
	start    time.Time
	epoch    int64 // start by the clock of all members of this host

	events     chan func() // for the loop
	poller     *poller.Poller
	ctx        context.Context
	cancel     context.CancelFunc
	background sync.WaitGroup
	admitted   chan struct{} // closed with the first view
	over       chan struct{} // closed when nothing is left of the member
	cause      atomic.Pointer[error]

	// Only the loop uses the fields below.
	now        proto.Time
	self       membership.Member // valid once there is a machine
	founding   Founding          // as well
	machine    *membership.Machine
	out        membership.Actions
	detector   *detector.Machine
	detections detector.Actions
	watched    uint64                     // the number of the view that the detector has
	cards      map[membership.Member]Card // of members, those that are being let in, and those gone last
	links      map[membership.Member]*link
	streams    map[membership.Member]*stream
	endings    map[membership.Member]*ending
	reserved   map[string]*reservation // by name
	candidacy  candidacy
	leases     leases
	memory     memory
	traffic    Traffic
	pulses     map[membership.Member]*pulse // of those that send heartbeats here
	heartbeats uint64                       // of all
	late       uint64
	rivals     map[Nonce]bool     // other foundings of the group that were told of
	review     bool               // review the endings: there is a new view
	recent     []*membership.View // the last ones in force
	held       []heldMessage      // that build on a view which isn't here yet
	retry      bool               // try these again: there is a new view
	remindAt   proto.Time         // when to repeat what this member has asked for, or proto.Never
	readyAt    proto.Time         // when to get ready for the next change, or proto.Never
	suspectAt  proto.Time         // when to report suspicions, or proto.Never
	ended      error
	scratch    []byte
}

// postLimit bounds how many events may wait.
const postLimit = 256

// Join makes this process a member, and returns when the member has its first view. It tries
// until ctx ends, or until the group refuses it.
func Join(ctx context.Context, cfg Config) (*Member, error) {
	for {
		socket, err := cfg.open()
		if err != nil {
			return nil, err
		}
		cfg.Listen = socket.Addr().String()
		m, err := join(ctx, cfg, socket)
		if !errors.Is(err, errPromised) || ctx.Err() != nil {
			return m, err
		}
		cfg.Logger.Info("join: once more", "member", cfg.Name, "because", err)
	}
}

// errPromised ends a process that is let into a group while another process, which is to found
// one, counts on it. It joins again, as a new member.
var errPromised = fmt.Errorf("%w: it was let in while it supported another process that is to found the group", ErrExcluded)

func join(ctx context.Context, cfg Config, socket *net.TCPListener) (*Member, error) {
	memory, err := openMemory(cfg.Dir)
	if err != nil {
		socket.Close()
		return nil, err
	}
	connections, err := poller.New()
	if err != nil {
		socket.Close()
		memory.close()
		return nil, err
	}
	m := &Member{
		memory: memory,
		poller: connections,
		cfg:    cfg,
		card:   Card{Nonce: newNonce(), Name: cfg.Name, Address: cfg.Advertise},
		socket: socket,
		log:    cfg.Logger.With("member", cfg.Name),
		start:  time.Now(),
		epoch:  time.Now().UnixNano(),
		events: make(chan func(), postLimit), admitted: make(chan struct{}), over: make(chan struct{}),
		cards: map[membership.Member]Card{}, links: map[membership.Member]*link{}, streams: map[membership.Member]*stream{},
		leases: leases{out: map[*Lease]bool{}}, rivals: map[Nonce]bool{}, pulses: map[membership.Member]*pulse{}, endings: map[membership.Member]*ending{}, reserved: map[string]*reservation{}, readyAt: proto.Never, suspectAt: proto.Never, remindAt: proto.Never,
	}
	if m.card.Address == "" {
		m.card.Address = socket.Addr().String()
	}
	m.card.Node = memory.record.Node
	m.showPresence()
	m.newCandidacy()
	m.ctx, m.cancel = context.WithCancel(context.Background())
	j := newJoiner(m) // before the loop may change what it reads
	m.background.Go(m.listen)
	go m.run()
	if m.foundsAlone() {
		m.foundAfter(memory.token())
	}
	if err := j.run(ctx); err != nil {
		m.post(func() { m.finish(ErrClosed) })
		<-m.over
		m.Close()
		return nil, err
	}
	if len(cfg.Seeds) > 0 {
		m.background.Go(m.lookAround)
	}
	return m, nil
}

// Card is this member's own.
func (m *Member) Card() Card { return m.card }

// Number is this member's number and incarnation in views.
func (m *Member) Number() membership.Member { return m.self }

// Err is nil until the member's end, and then says why the member has ended.
func (m *Member) Err() error {
	if err := m.cause.Load(); err != nil {
		return *err
	}
	return nil
}

// Leave asks to leave, and waits until the others have a view without this member. If ctx ends
// first, the member goes on leaving.
func (m *Member) Leave(ctx context.Context) error {
	m.post(func() {
		m.machine.Leave(m.now, &m.out)
		m.remindLater()
		m.settle()
	})
	select {
	case <-m.over:
		if err := m.Err(); !errors.Is(err, ErrLeft) {
			return err
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("leave: %w: the others have no view without this member yet", ctx.Err())
	}
}

// Close ends the member at once, unless it has ended already, and frees all that it has. To the
// others the member has died unless it has left.
func (m *Member) Close() {
	m.post(func() { m.finish(ErrClosed) })
	<-m.over
}

// post makes the loop call f, unless the member has ended.
func (m *Member) post(f func()) {
	select {
	case m.events <- f:
		m.poller.Wake()
	case <-m.ctx.Done():
	}
}

// run is the loop. It handles what has come before time-outs.
func (m *Member) run() {
	for m.ended == nil {
		m.handle()
		m.now = m.clock()
		m.tick()
		if m.ended == nil {
			if err := m.poller.Wait(m.nextDeadline()); err != nil {
				m.finish(err)
			}
		}
	}
	m.shutdown()
}

// handle calls what other goroutines have posted.
func (m *Member) handle() {
	for i := 0; i < postLimit && m.ended == nil; i++ {
		select {
		case f := <-m.events:
			m.now = m.clock()
			f()
		default:
			return
		}
	}
	m.poller.Wake() // there may be more
}

// handleFor does for a while, at the member's end, what the loop does but for time-outs.
func (m *Member) handleFor(span time.Duration) {
	for more := true; more; {
		select {
		case f := <-m.events:
			f()
		default:
			more = false
		}
	}
	m.poller.Wait(time.Now().Add(span)) // an error has been told of
}

func (m *Member) clock() proto.Time { return proto.Time(time.Since(m.start)) }

// nextDeadline is when the loop has something to do even if nothing happens; zero if never.
func (m *Member) nextDeadline() time.Time {
	d := proto.Never
	if m.detector != nil {
		at := m.detector.Deadline()
		if at == m.detector.Beat() {
			at = m.together(at)
		}
		d = min(m.machine.Deadline(), at, m.readyAt, m.suspectAt, m.remindAt, m.leaseDeadline(), m.diskDeadline())
	}
	if d == proto.Never {
		return time.Time{}
	}
	return m.start.Add(time.Duration(d))
}

// together is when to send a heartbeat that is due: up to an eighth of a period later, at the next
// of eight moments a period that are the same for all members of this host. So they share the
// wakings of threads and processors, which cost more than the heartbeats.
func (m *Member) together(due proto.Time) proto.Time {
	if due == proto.Never {
		return due
	}
	step := int64(m.cfg.Period / 8)
	if past := (m.epoch + int64(due)) % step; past > 0 {
		return due + proto.Time(step-past)
	}
	return due
}

func (m *Member) tick() {
	if m.detector == nil || m.ended != nil {
		return
	}
	if m.now >= m.detector.Deadline() {
		m.detector.Tick(m.now, &m.detections)
	}
	if m.now >= m.machine.Deadline() {
		m.machine.Tick(m.now, &m.out)
	}
	if m.now >= m.suspectAt {
		m.reportSuspicions()
	}
	if m.now >= m.readyAt {
		m.getReady()
	}
	if m.now >= m.remindAt {
		m.remindAt = proto.Never
		if m.machine.Remind(m.now, &m.out) {
			m.remindLater()
		}
	}
	if m.now >= m.diskDeadline() {
		m.written(errors.New("the disk doesn't answer"))
	}
	m.settle()
	m.serveLeases()
	m.settle()
}

// finish ends the loop. The first reason counts.
func (m *Member) finish(err error) {
	if m.ended == nil {
		m.ended = err
	}
}

// shutdownLimit is how long queued frames may take to leave at the end.
const shutdownLimit = time.Second

// shutdown frees all that the member has. First it sends what the others have to know, such as
// the view without a member that leaves.
func (m *Member) shutdown() {
	m.awaitLeases()
	if m.ended != ErrClosed {
		for deadline := time.Now().Add(shutdownLimit); !m.quiet() && time.Now().Before(deadline); {
			m.handleFor(time.Millisecond) // connections being made go on
		}
	}
	m.socket.Close()
	if m.presence != nil {
		m.presence.Close()
	}
	m.cancel()
	for _, l := range m.links {
		l.cut()
	}
	m.poller.Close()
	m.background.Wait()
	m.memory.close()
	m.cause.Store(&m.ended)
	if m.ended != errPromised {
		m.cfg.Observer.Ended(m.ended)
	}
	close(m.over)
}

func (m *Member) quiet() bool {
	for _, l := range m.links {
		if !l.idle() {
			return false
		}
	}
	return true
}
