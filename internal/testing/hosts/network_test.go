package hosts_test

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/testing/hosts"
)

// network makes hosts for a test, and skips the test where it can't.
func network(t *testing.T, count int, seed uint64) *hosts.Network {
	t.Helper()
	if err := hosts.Unavailable(); err != nil {
		t.Skipf("no network namespaces here (root, or user namespaces, and /dev/net/tun are needed): %v", err)
	}
	n, err := hosts.NewNetwork(count, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// socket opens a socket for datagrams on a host.
func socket(t *testing.T, h *hosts.Host) *net.UDPConn {
	t.Helper()
	var c *net.UDPConn
	var err error
	h.Do(func() { c, err = net.ListenUDP("udp4", &net.UDPAddr{IP: h.Addr.AsSlice(), Port: 7000}) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// datagrams sends numbered datagrams from one host to another and returns the numbers of those that
// arrive, in the order of arrival, and the shortest time one took. The sender stamps each with the
// time. The network says how many it has carried: all those arrive, however long a busy machine
// takes.
func datagrams(t *testing.T, n *hosts.Network, sockets []*net.UDPConn, from, to, count int) (arrived []uint32, quickest time.Duration) {
	t.Helper()
	const patience = 20 * time.Second
	quickest = time.Hour
	var carried atomic.Int64
	carried.Store(-1) // not known yet
	done := make(chan struct{})
	go func() {
		defer close(done)
		var b [64]byte
		for deadline := time.Now().Add(2 * patience); time.Now().Before(deadline); {
			sockets[to].SetReadDeadline(time.Now().Add(5 * time.Millisecond))
			all := carried.Load()
			n, err := sockets[to].Read(b[:])
			if err != nil && all >= 0 && len(arrived) >= int(all) {
				return // and there are no more
			}
			if err == nil && n == 12 {
				arrived = append(arrived, binary.LittleEndian.Uint32(b[8:]))
				quickest = min(quickest, time.Since(time.Unix(0, int64(binary.LittleEndian.Uint64(b[:])))))
			}
		}
	}()
	carriedBefore, lostBefore := n.Carried(from, to)
	var b [12]byte
	for i := range count {
		binary.LittleEndian.PutUint64(b[:], uint64(time.Now().UnixNano()))
		binary.LittleEndian.PutUint32(b[8:], uint32(i))
		if _, err := sockets[from].WriteTo(b[:], sockets[to].LocalAddr()); err != nil {
			t.Error(err)
		}
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		c, l := n.Carried(from, to)
		if c, l = c-carriedBefore, l-lostBefore; c+l >= count || time.Now().After(deadline) {
			carried.Store(int64(c))
			break
		}
	}
	<-done
	return arrived, quickest
}

func TestLinks(t *testing.T) {
	t.Parallel()
	const count = 200 // fits into the socket's buffer
	var lots [2][]uint32
	for i := range lots {
		n := network(t, 3, 42)
		sockets := []*net.UDPConn{socket(t, n.Host(0)), socket(t, n.Host(1)), socket(t, n.Host(2))}
		send := func(from, to int) ([]uint32, time.Duration) { return datagrams(t, n, sockets, from, to, count) }

		got, _ := send(0, 1)
		if len(got) != count || !slices.IsSorted(got) {
			t.Errorf("a perfect link: %d of %d datagrams, in order: %v", len(got), count, slices.IsSorted(got))
		}
		n.Set(0, 1, hosts.Link{Delay: 50 * time.Millisecond})
		got, quickest := send(0, 1)
		if len(got) != count || !slices.IsSorted(got) || quickest < 50*time.Millisecond {
			t.Errorf("a slow link: %d of %d datagrams, in order: %v; one took %v", len(got), count, slices.IsSorted(got), quickest)
		}
		n.Set(0, 1, hosts.Link{Loss: 0.5})
		lots[i], _ = send(0, 1)
		if k := len(lots[i]); k < count/4 || k > 3*count/4 {
			t.Errorf("a link that loses half: %d of %d datagrams", k, count)
		}
		n.Set(0, 1, hosts.Link{Cut: true})
		if got, _ := send(0, 1); len(got) != 0 {
			t.Errorf("a cut link: %d datagrams", len(got))
		}
		// The other direction, and other links, are as they were.
		if got, _ := send(1, 0); len(got) != count {
			t.Errorf("the way back: %d datagrams", len(got))
		}
		if got, _ := send(0, 2); len(got) != count {
			t.Errorf("another link: %d datagrams", len(got))
		}
		n.Set(0, 1, hosts.Link{})
		if got, _ := send(0, 1); len(got) != count {
			t.Errorf("a healed link: %d datagrams", len(got))
		}
	}
	if !slices.Equal(lots[0], lots[1]) {
		t.Errorf("the same seed lost other packets: %d and %d arrived", len(lots[0]), len(lots[1]))
	}
}

// The kernel's TCP gets all data over a bad link.
func TestStreamOverLoss(t *testing.T) {
	t.Parallel()
	n := network(t, 2, 1)
	n.SetBoth([]int{0}, []int{1}, hosts.Link{Loss: 0.02, Delay: time.Millisecond})
	var l net.Listener
	var err error
	n.Host(0).Do(func() { l, err = net.Listen("tcp", n.Host(0).Addr.String()+":0") })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const size = 1 << 20
	go func() {
		n.Host(1).Do(func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			go func() { c.Write(make([]byte, size)); c.Close() }()
		})
	}()
	l.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second))
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	if got, err := io.Copy(io.Discard, c); got != size || err != nil {
		t.Errorf("%d of %d bytes, %v", got, size, err)
	}
	if carried, lost := n.Carried(1, 0); lost == 0 || carried == 0 {
		t.Errorf("%d packets carried, %d lost", carried, lost)
	}
}

// A closed network leaves no namespace behind.
func TestNothingStays(t *testing.T) {
	n := network(t, 3, 1)
	var inside string
	n.Host(0).Do(func() { inside, _ = os.Readlink("/proc/thread-self/ns/net") })
	if !slices.Contains(namespaces(), inside) {
		t.Fatalf("%q is none of this process's namespaces", inside)
	}
	n.Close()
	for deadline := time.Now().Add(10 * time.Second); slices.Contains(namespaces(), inside); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a thread is still in the namespace of a closed host")
		}
	}
}

// namespaces are the namespaces that the threads of this process are in.
func namespaces() (all []string) {
	links, _ := filepath.Glob("/proc/self/task/*/ns/net")
	for _, l := range links {
		if ns, err := os.Readlink(l); err == nil {
			all = append(all, ns)
		}
	}
	return all
}
