package detection

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"banyan/bench/processes"
)

// memberlistConfig is the peer's configuration, that for a local network (DefaultLANConfig) with
// these changes:
//
//   - memberlist: with the shipped ratios at the period η. ProbeInterval = η,
//     ProbeTimeout = η/2, GossipInterval = η/5; all else as shipped, also that a
//     suspect has 4·log10(n) to 24·log10(n) periods to object.
//   - memberlist-matched: the same, but a suspect's time to object is fixed, however many suspect
//     it, to what makes at least δ with the period of the probe before it. It comes in whole
//     multiples of log10(n)·η.
//   - memberlist-floor: the same with the shortest time that memberlist takes, one multiple, and
//     gossip twice as often. The figures show whether that stays free of false suspicions.
//   - memberlist-swim: as memberlist, but SWIM alone: news rides on pings and their answers, and
//     there is no gossip beside them, no exchange of whole lists, no ping over TCP.
//
// The caller sets names and addresses.
func memberlistConfig(s *Setting) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.ProbeInterval, c.ProbeTimeout, c.GossipInterval = s.Period, s.Period/2, s.Period/5
	switch s.System {
	case MemberlistMatched:
		multiples := float64(s.Timeout-s.Period) / (nodeScale(s.N) * float64(s.Period))
		c.SuspicionMult, c.SuspicionMaxTimeoutMult = max(1, int(math.Ceil(multiples-1e-9))), 1
	case MemberlistFloor:
		c.SuspicionMult, c.SuspicionMaxTimeoutMult = 1, 1
		c.GossipInterval = s.Period / 10
	case MemberlistSwim:
		c.GossipInterval, c.PushPullInterval, c.DisableTcpPings = 0, 0, true
	}
	c.Logger = log.New(io.Discard, "", 0)
	return c
}

// nodeScale is the factor by which memberlist's time-outs grow with its members.
func nodeScale(n int) float64 { return max(1, math.Log10(float64(n))) }

// joinMemberlist makes the process a member of a memberlist that member 0 founded.
func (t task) joinMemberlist(b *scoreboard, address string) (sent func() int64, err error) {
	c := memberlistConfig(&t.Setting)
	c.Name = strconv.Itoa(t.Member)
	seen := &witness{scoreboard: b, member: t.Member, contacted: make([]bool, t.N)}
	c.Events = seen
	inner, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{
		BindAddrs: []string{address}, Logger: c.Logger,
	})
	if err != nil {
		return nil, err
	}
	messages := b.word(t.Member, wordSent)
	c.Transport = newCounting(inner, messages)
	c.BindAddr, c.AdvertiseAddr = address, address
	c.BindPort, c.AdvertisePort = inner.GetAutoBindPort(), inner.GetAutoBindPort()
	list, err := memberlist.Create(c)
	if err != nil {
		return nil, err
	}
	b.word(t.Member, wordPort).Store(int64(c.BindPort))
	if t.Member > 0 {
		if err := t.joinFounder(b, list); err != nil {
			return nil, err
		}
	}
	b.word(t.Member, wordState).Store(joined)
	// The loop doesn't require all at the same time: where some are always taken for dead, that
	// never comes.
	again := time.Now()
	if !processes.WaitFor(nil, t.startLimit(), func() bool {
		// Without gossip the news of a joiner may miss some. They ask the founder once more.
		if t.System == MemberlistSwim && t.Member > 0 && time.Since(again) > time.Second {
			again = time.Now()
			list.Join(founder(b, t.Namespace)) // an error shows in the count
		}
		return int(seen.count.Load()) == t.N
	}) {
		return nil, fmt.Errorf("has contacted %d of %d members after %v", seen.count.Load(), t.N, t.startLimit())
	}
	return messages.Load, nil
}

// founder is the address of member 0, as a list.
func founder(b *scoreboard, namespace bool) []string {
	address := "127.0.0.1"
	if namespace {
		address = memberAddress(0)
	}
	return []string{net.JoinHostPort(address, strconv.FormatInt(b.word(0, wordPort).Load(), 10))}
}

func (t task) joinFounder(b *scoreboard, list *memberlist.Memberlist) (err error) {
	port := b.word(0, wordPort)
	if !processes.WaitFor(nil, t.startLimit(), func() bool {
		if port.Load() == 0 || t.Member-(t.N-len(b.missing(joined))) >= maxStarting {
			return false
		}
		_, err = list.Join(founder(b, t.Namespace))
		return err == nil
	}) {
		return errors.Join(errors.New("can't join the founder"), err)
	}
	return nil
}

// witness writes down what memberlist says of its members.
type witness struct {
	scoreboard *scoreboard
	member     int
	contacted  []bool       // by member; memberlist calls one method at a time
	count      atomic.Int32 // of those contacted
}

// NotifyJoin hears of a member for the first time, or again.
func (w *witness) NotifyJoin(n *memberlist.Node) {
	i, ok := w.of(n)
	if !ok {
		return
	}
	w.scoreboard.takeBack(w.member, i)
	if !w.contacted[i] {
		w.contacted[i] = true
		w.count.Add(1)
	}
}

// NotifyLeave hears that a member is taken for dead: none ever leaves here.
func (w *witness) NotifyLeave(n *memberlist.Node) {
	if i, ok := w.of(n); ok {
		w.scoreboard.learn(w.member, i, 0)
	}
}

func (w *witness) NotifyUpdate(*memberlist.Node) {}

// of returns the member that a node is.
func (w *witness) of(n *memberlist.Node) (int, bool) {
	i, err := strconv.Atoi(n.Name)
	return i, err == nil && i >= 0 && i < w.scoreboard.n
}

// counting is a transport that counts what it sends: packets, and writes to
// streams.
type counting struct {
	*memberlist.NetTransport
	sent    *atomic.Int64
	streams chan net.Conn
}

func newCounting(t *memberlist.NetTransport, sent *atomic.Int64) *counting {
	c := &counting{t, sent, make(chan net.Conn)}
	go func() {
		for s := range t.StreamCh() {
			c.streams <- &countedConn{s, sent}
		}
	}()
	return c
}

func (c *counting) WriteTo(b []byte, addr string) (time.Time, error) {
	return c.WriteToAddress(b, memberlist.Address{Addr: addr})
}

func (c *counting) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	c.sent.Add(1)
	return c.NetTransport.WriteToAddress(b, a)
}

func (c *counting) DialTimeout(addr string, limit time.Duration) (net.Conn, error) {
	return c.DialAddressTimeout(memberlist.Address{Addr: addr}, limit)
}

func (c *counting) DialAddressTimeout(a memberlist.Address, limit time.Duration) (net.Conn, error) {
	conn, err := c.NetTransport.DialAddressTimeout(a, limit)
	if err != nil {
		return nil, err
	}
	return &countedConn{conn, c.sent}, nil
}

func (c *counting) StreamCh() <-chan net.Conn { return c.streams }

// countedConn counts what is written to a stream.
type countedConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.sent.Add(1)
	return c.Conn.Write(b)
}
