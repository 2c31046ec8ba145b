package bench

import (
	"fmt"
	"io"
	"net"
	"time"
)

// PeerTransport names the peer of the TCP rows: the same ping-pong over a plain
// net.Conn between two processes. It is what a Go program gets without Banyan.
const PeerTransport = "net.Conn"

// peerTimeout ends a ping-pong whose other side has gone.
const peerTimeout = time.Minute

// MeasurePeer measures the ping-pong of every size with another process, which
// start makes call EchoPeer with the address and as many operations.
func MeasurePeer(most int, start func(address string) error) ([]Sample, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	l.SetDeadline(time.Now().Add(peerTimeout))
	if err := start(l.Addr().String()); err != nil {
		return nil, err
	}
	c, err := l.Accept()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(peerTimeout))
	var samples []Sample
	p := Patterns[0]
	for _, size := range p.Sizes {
		buf, n := make([]byte, size), Operations(size, most)
		var began time.Time
		for i := range n/10 + n {
			if i == n/10 { // warm
				began = time.Now()
			}
			if _, err := c.Write(buf); err != nil {
				return nil, fmt.Errorf("the peer's ping-pong of %d bytes: %w", size, err)
			}
			if _, err := io.ReadFull(c, buf); err != nil {
				return nil, fmt.Errorf("the peer's ping-pong of %d bytes: %w", size, err)
			}
		}
		per := float64(n * p.PerOperation)
		samples = append(samples, Sample{Pattern: p.Name, Ranks: p.Ranks, Size: size,
			Nanoseconds: float64(time.Since(began).Nanoseconds()) / per})
	}
	return samples, nil
}

// EchoPeer is the other process: it sends everything back.
func EchoPeer(address string, most int) error {
	c, err := net.DialTimeout("tcp", address, peerTimeout)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(peerTimeout))
	p := Patterns[0]
	for _, size := range p.Sizes {
		buf, n := make([]byte, size), Operations(size, most)
		for range n/10 + n {
			if _, err := io.ReadFull(c, buf); err != nil {
				return err
			}
			if _, err := c.Write(buf); err != nil {
				return err
			}
		}
	}
	return nil
}
