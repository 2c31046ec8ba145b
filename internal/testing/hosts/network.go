package hosts

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// MaxHosts is the largest number of hosts of a Network.
const MaxHosts = 254

// maxPacket is the largest packet of a TUN device of the default MTU, and more.
const maxPacket = 2048

// maxQueued bounds the packets on their way in one direction of a link. Further ones are lost, as
// in a switch.
const maxQueued = 4096

// Link is one direction of the wire between two hosts. The zero Link is perfect.
type Link struct {
	Cut bool
	// Reject loses all packets too, and answers those of TCP with a reset in the name of their
	// destination, as a firewall that rejects (tcp-reset) does.
	Reject bool
	Loss   float64       // probability that a packet is lost
	Delay  time.Duration // of each packet, beyond what the kernel takes
}

// Network is some hosts and the wires between each two of them. Several goroutines may call its
// methods.
type Network struct {
	hosts []*Host
	wires [][]*wire // from, to
	tap   atomic.Pointer[func(from, to int, packet []byte)]
	ends  sync.WaitGroup
	over  sync.Once
}

// NewNetwork makes n hosts that reach each other. The seed decides which packets
// a Link with Loss loses.
func NewNetwork(n int, seed uint64) (*Network, error) {
	if n < 1 || n > MaxHosts {
		return nil, fmt.Errorf("multihost: %d hosts; 1 to %d are possible", n, MaxHosts)
	}
	net := &Network{}
	for i := range n {
		h, err := newHost(fmt.Sprintf("host%d", i), netip.AddrFrom4([4]byte{10, 77, 0, byte(i + 1)}))
		if err != nil {
			net.Close()
			return nil, err
		}
		net.hosts = append(net.hosts, h)
	}
	for from, sender := range net.hosts {
		wires := make([]*wire, len(net.hosts))
		for to, h := range net.hosts {
			wires[to] = &wire{
				random: rand.New(rand.NewPCG(seed, uint64(from)<<32|uint64(to))),
				put:    func(packet []byte) { h.tun.Write(packet) }, // a full host loses it
				back:   func(packet []byte) { sender.tun.Write(packet) },
			}
		}
		net.wires = append(net.wires, wires)
	}
	for i := range n {
		net.ends.Go(func() { net.carry(i) })
	}
	return net, nil
}

// Host is the host with the given number.
func (n *Network) Host(i int) *Host { return n.hosts[i] }

// Set changes the direction of a link.
func (n *Network) Set(from, to int, l Link) { n.wires[from][to].set(l) }

// SetBoth changes both directions of the links between two groups of hosts.
func (n *Network) SetBoth(some, others []int, l Link) {
	for _, a := range some {
		for _, b := range others {
			n.Set(a, b, l)
			n.Set(b, a, l)
		}
	}
}

// Carried is how many packets have been delivered to a host, and how many were lost on the way.
func (n *Network) Carried(from, to int) (carried, lost int) {
	w := n.wires[from][to]
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.carried, w.lost
}

// Tap shows all packets that hosts send from now on to see, as they are sent. It is called on
// several goroutines, and must not keep a packet.
func (n *Network) Tap(see func(from, to int, packet []byte)) { n.tap.Store(&see) }

// Close removes the hosts and kills the processes on them.
func (n *Network) Close() { n.over.Do(n.close) }

func (n *Network) close() {
	for _, h := range n.hosts {
		h.close()
	}
	for _, wires := range n.wires {
		for _, w := range wires {
			w.close()
		}
	}
	n.ends.Wait()
}

// carry passes on what a host sends, until it is closed.
func (n *Network) carry(from int) {
	b := make([]byte, maxPacket)
	for {
		size, err := n.hosts[from].tun.Read(b)
		if err != nil {
			return
		}
		if to, ok := n.destination(b[:size]); ok && to != from {
			if see := n.tap.Load(); see != nil {
				(*see)(from, to, b[:size])
			}
			n.wires[from][to].send(b[:size])
		}
	}
}

// destination is the host that a packet is for.
func (n *Network) destination(packet []byte) (int, bool) {
	if len(packet) < 20 || packet[0]>>4 != 4 {
		return 0, false // not IP version 4
	}
	addr := netip.AddrFrom4([4]byte(packet[16:20]))
	last := int(packet[19]) - 1
	if last < 0 || last >= len(n.hosts) || n.hosts[last].Addr != addr {
		return 0, false
	}
	return last, true
}
