package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/shm"
	"banyan/internal/runtime/transport/stream"
	"banyan/internal/runtime/transport/tcp"
	"banyan/internal/runtime/wire"
)

// ErrNoCard is Resolve's error for a Proc that died before others could reach it.
var ErrNoCard = errors.New("it died before it joined")

// Media says which media may be used.
type Media uint8

// Media of a Config.
const (
	Any          Media = iota // shared memory where it can be had, else sockets
	Sockets                   // TCP only
	SharedMemory              // no peer that shares none is reached
)

// Config is what Listen needs to know.
type Config struct {
	Self        proto.Proc
	N           int               // Procs in the job
	Job         [16]byte          // names the job
	Secret      []byte            // of the job; random, at least handshake.MinSecret bytes
	Incarnation proto.Incarnation // of Self
	// Incarnations has the incarnation of each Proc that is admitted at first (see
	// Transport.Admit). nil: all are 0.
	Incarnations []proto.Incarnation
	// Host is the address to listen at, or the name of one, as others reach it. The default is
	// 127.0.0.1: only peers on this host reach it.
	Host string
	// Media are the media that may be used.
	Media Media
	// Sealing says which connections are sealed (package seal). All Procs of the job must have
	// the same.
	Sealing seal.Policy
	// Settle is how long a process must have fenced no other before it speaks for its side of a
	// partition (Tell). The default is 3 s.
	Settle time.Duration
	// Reach bounds all attempts to make a link to a peer on another host. The default is 5 s.
	Reach time.Duration
	// Resolve finds another Proc's business card; its error may be ErrNoCard. It is called on
	// several goroutines, and may block; Close waits for it.
	Resolve func(proto.Proc) (Card, error)
	// Logger gets refused strangers and failed connections. The default is none.
	Logger *slog.Logger
}

// readSize is how many bytes are read at once, beyond a large payload.
const readSize = 64 << 10

// Transport implements transport.Transport.
type Transport struct {
	n       int
	card    Card
	poller  *poller
	table   *linkTable
	dialler *dialler
	log     *slog.Logger
	refused atomic.Bool // a refusal has been logged

	ctx        context.Context // of the background goroutines
	cancel     context.CancelFunc
	background sync.WaitGroup
	listeners  []net.Listener

	// The owner's.
	peers        []*peer // nil until used
	incarnations []proto.Incarnation
	pool         stream.Pool
	buffer       *stream.Buffer
	records      []byte // sealed bytes that were read; nil: nothing was ever sealed
	vector       tcp.Vector
	header       [wire.HeaderSize]byte
	runs         [][]byte
	tokens       []uint64
	given        []loan // payloads to give back at the next Poll
	news         []news
	ends         []news // wait for the next Poll
	sockets      int    // live peers that are reached by a socket
	waiting      int    // of them, those whose queue waits for room in the socket
	pace         pace
	rings
	sink    transport.Sink
	moved   int
	written uint64 // to sockets
	closed  bool
	publish func(proto.Proc, unsafe.Pointer) // nil: nobody shares the rings

	vmRead     processRead
	readMemory func(pid int, dst []byte, address uint64) (int, unix.Errno)
}

// loan is a borrowed payload.
type loan struct {
	to    proto.Proc
	token uint64
}

// Listen opens Self's end of the job's network. Others reach it at its Card.
func Listen(cfg Config) (*Transport, error) {
	if cfg.N < 1 || cfg.Self < 0 || int(cfg.Self) >= cfg.N {
		return nil, fmt.Errorf("mesh: %v in a job of %d", cfg.Self, cfg.N)
	}
	if len(cfg.Secret) < handshake.MinSecret {
		return nil, fmt.Errorf("mesh: a secret of %d bytes, at least %d are needed", len(cfg.Secret), handshake.MinSecret)
	}
	if cfg.Resolve == nil {
		return nil, errors.New("mesh: no function to resolve other processes")
	}
	if cfg.Host == "" {
		cfg.Host = "127.0.0.1"
	}
	if ip := net.ParseIP(cfg.Host); ip != nil && ip.IsUnspecified() {
		return nil, fmt.Errorf("mesh: %s isn't an address that others can reach", cfg.Host)
	}
	if cfg.Incarnations == nil {
		cfg.Incarnations = make([]proto.Incarnation, cfg.N)
	}
	if len(cfg.Incarnations) != cfg.N {
		return nil, fmt.Errorf("mesh: the incarnations of %d processes in a job of %d", len(cfg.Incarnations), cfg.N)
	}
	if cfg.Settle == 0 {
		cfg.Settle = 3 * time.Second
	}
	if cfg.Reach == 0 {
		cfg.Reach = dialLimit
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	card := Card{Pid: os.Getpid(), Incarnation: cfg.Incarnation}
	var err error
	if card.Host, err = hostID(); err != nil {
		return nil, err
	}
	if card.Start, err = startTime(card.Pid); err != nil {
		return nil, fmt.Errorf("mesh: when did this process start: %w", err)
	}
	poller, err := newPoller()
	if err != nil {
		return nil, err
	}
	t := &Transport{
		n: cfg.N, card: card, poller: poller, log: cfg.Logger.With("self", int(cfg.Self)),
		table:        newLinkTable(cfg.Self, slices.Clone(cfg.Incarnations), cfg.Settle, poller.wake),
		incarnations: slices.Clone(cfg.Incarnations),
		peers:        make([]*peer, cfg.N),
		buffer:       stream.NewBuffer(readSize),
		pace:         pace{hot: proto.NoProc},
	}
	t.readMemory = t.vmRead.read
	t.ctx, t.cancel = context.WithCancel(context.Background())
	if err := t.listen(cfg); err != nil {
		t.Close()
		return nil, err
	}
	t.dialler = &dialler{
		party: party{
			protocol: handshake.Job, self: cfg.Self, incarnation: cfg.Incarnation, job: cfg.Job, secret: cfg.Secret,
			host: hostDigest(card.Host), pid: card.Pid, start: card.Start, standing: t.table.standing, sealing: cfg.Sealing,
		},
		card: t.card, media: cfg.Media, resolve: cfg.Resolve, table: t.table, refusal: t.logRefusal, limit: cfg.Reach,
	}
	if t.doorbells != nil {
		t.dialler.own = &shm.Own{Self: cfg.Self, Procs: cfg.N, Doorbells: t.doorbells, Alarm: poller.alarm}
	}
	l := &listener{dialler: t.dialler}
	for _, socket := range t.listeners {
		t.background.Go(func() { l.serve(t.ctx, socket) })
	}
	return t, nil
}

// listen opens the sockets where others reach this process, and completes its business card.
func (t *Transport) listen(cfg Config) error {
	var ordinary net.ListenConfig
	ordinary.SetMultipathTCP(false) // which costs two more calls, and diallers don't ask for it
	socket, err := ordinary.Listen(t.ctx, "tcp", net.JoinHostPort(cfg.Host, "0"))
	if err != nil {
		return fmt.Errorf("mesh: %w", err)
	}
	t.listeners = append(t.listeners, socket)
	t.card.Addr = socket.Addr().String()
	if cfg.Media != Sockets {
		err := t.openMemory(cfg.N)
		if err != nil && cfg.Media == SharedMemory {
			return err
		}
		if err != nil {
			t.log.Debug("no shared memory", "reason", err)
		}
	}
	_, err = ParseCard(t.card.String())
	return err
}

// openMemory opens the unix socket for processes that can share memory with this one.
func (t *Transport) openMemory(n int) error {
	local, err := localID()
	if err != nil {
		return err
	}
	doorbells, err := shm.NewDoorbells(n)
	if err != nil {
		return err
	}
	card := Card{Local: local}
	socket, err := net.Listen("unix", card.socket())
	if err != nil {
		doorbells.Close()
		return fmt.Errorf("mesh: %w", err)
	}
	t.listeners = append(t.listeners, socket)
	t.card.Local = local
	t.rings = rings{doorbells: doorbells, skip: make([]uint64, (n+63)/64)}
	t.poller.doorbells = doorbells
	allowReads()
	return nil
}

// Card is the business card of this Proc, for the Resolve of others.
func (t *Transport) Card() Card { return t.card }

// logRefusal logs why a connection wasn't made. The first refusal is at level warn; all others
// are at level debug, because a stranger could cause many. Peers that died or left meanwhile are
// at level debug, too, and don't use up the warning.
func (t *Transport) logRefusal(err error, from net.Addr) {
	if t.ctx.Err() != nil {
		return // it failed because of Close
	}
	level := slog.LevelDebug
	if !errors.Is(err, handshake.ErrHungUp) && !errors.Is(err, ErrNoCard) && !errors.Is(err, errReplaced) && !t.refused.Swap(true) {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{slog.String("reason", err.Error())}
	if from != nil {
		attrs = append(attrs, slog.String("from", from.String()))
	}
	t.log.LogAttrs(t.ctx, level, "connection refused", attrs...)
}

// Queued implements transport.Transport.
func (t *Transport) Queued(to proto.Proc) int {
	if p := t.peers[to]; p != nil {
		return p.outbox.Len()
	}
	return 0
}

// Wait implements transport.Transport.
func (t *Transport) Wait(limit time.Duration) {
	if t.mayWait() {
		t.poller.wait(limit)
	}
}

// Doze is Wait for a thread that waits long and often: it costs the process less, and takes a
// little longer to begin and to end.
func (t *Transport) Doze(limit time.Duration) {
	if t.mayWait() {
		t.poller.doze(limit)
	}
}

// Wake implements transport.Transport.
func (t *Transport) Wake() { t.poller.wake() }

// drainPause is how often Drain looks.
const drainPause = 50 * time.Microsecond

// Drain implements transport.Transport. It waits for the peers' kernels to acknowledge: data that
// a socket still holds is lost if the process ends with input unread. It doesn't wait for peers
// that aren't connected yet: at the end of a job they may never be.
func (t *Transport) Drain(limit time.Duration) {
	if t.closed {
		return
	}
	for deadline := time.Now().Add(limit); ; time.Sleep(drainPause) {
		t.hear()
		left := false
		for _, p := range t.peers {
			if p == nil || p.state != live {
				continue
			}
			if p.outbox.Len() > 0 || p.sealed.waits() {
				t.flush(p)
			}
			left = left || p.outbox.Len() > 0 || p.sealed.waits() || !p.broken && p.link == nil && tcp.Unsent(p.fd) > 0
		}
		if !left || time.Now().After(deadline) {
			break
		}
	}
	if len(t.ends) > 0 {
		t.Wake() // hear took them away from the link table, which Wait watches
	}
}

// Close implements transport.Transport.
func (t *Transport) Close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	t.cancel()
	var err error
	for _, l := range t.listeners {
		err = errors.Join(err, l.Close())
	}
	t.background.Wait()
	for _, n := range t.table.take(nil) {
		n.discard()
	}
	for _, p := range t.peers {
		if p != nil {
			t.hangUp(p)
			t.unwatch(p)
		}
	}
	t.poller.close()
	if t.doorbells != nil {
		t.doorbells.Close()
	}
	t.peers = make([]*peer, t.n)
	return err
}
