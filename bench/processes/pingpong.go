package processes

import (
	"io"
	"net"
	"slices"
	"time"
)

// A ping-pong over a TCP connection of the loopback: how long a message of some size takes one way
// between two processes that do nothing else.
const (
	pingPongBatches = 40
	pingPongRounds  = 50 // of a batch
	pingPongLimit   = 20 * time.Second
)

// PingPong measures half a round trip of a message of so many bytes: the median of the means of
// batches. start is given an address, and has another process call Echo with it.
func PingPong(size int, start func(address string) error) (time.Duration, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer l.Close()
	l.SetDeadline(time.Now().Add(pingPongLimit))
	if err := start(l.Addr().String()); err != nil {
		return 0, err
	}
	c, err := l.Accept()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(pingPongLimit))
	message := make([]byte, size)
	var batches []time.Duration
	for batch := range pingPongBatches + 1 {
		began := time.Now()
		for range pingPongRounds {
			if _, err := c.Write(message); err != nil {
				return 0, err
			}
			if _, err := io.ReadFull(c, message); err != nil {
				return 0, err
			}
		}
		if batch > 0 { // warm
			batches = append(batches, time.Since(began)/(2*pingPongRounds))
		}
	}
	slices.Sort(batches)
	return batches[len(batches)/2], nil
}

// Echo sends messages of so many bytes back until the other side hangs up.
func Echo(address string, size int) error {
	c, err := net.DialTimeout("tcp", address, pingPongLimit)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(pingPongLimit))
	message := make([]byte, size)
	for {
		if _, err := io.ReadFull(c, message); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if _, err := c.Write(message); err != nil {
			return err
		}
	}
}
