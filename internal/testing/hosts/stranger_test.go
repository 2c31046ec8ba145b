package hosts_test

import (
	"bufio"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/testing/hosts"
)

// flood is a host that opens connections to other hosts without end: it says nothing over one half
// of them, and garbage over the others.
type flood struct {
	opened atomic.Int64
	open   []int // sockets, the oldest first
	stop   chan struct{}
	over   chan struct{}
}

// maxOpen bounds the sockets of a flood.
const maxOpen = 1500

// startFlood has a host of a network flood all ports of other hosts at which something listens,
// also those that are opened later. It ends at the end of the test at the latest.
func startFlood(t *testing.T, n *hosts.Network, from int, to ...int) *flood {
	f := &flood{stop: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(f.over)
		for {
			var targets []*unix.SockaddrInet4
			for _, h := range to {
				for _, port := range listening(n.Host(h)) {
					targets = append(targets, &unix.SockaddrInet4{Addr: n.Host(h).Addr.As4(), Port: port})
				}
			}
			n.Host(from).Do(func() { f.wave(targets) })
			select {
			case <-f.stop:
				for _, fd := range f.open {
					unix.Close(fd)
				}
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(f.end)
	return f
}

// wave opens ten connections to each target.
func (f *flood) wave(targets []*unix.SockaddrInet4) {
	for i, fd := range f.open {
		if i%2 == 0 {
			unix.SendmsgN(fd, []byte("GET / HTTP/1.1\r\n"), nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		}
	}
	for _, target := range targets {
		for range 10 {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return
			}
			unix.Connect(fd, target) // it goes on while this host does other things
			f.opened.Add(1)
			if f.open = append(f.open, fd); len(f.open) > maxOpen {
				unix.Close(f.open[0])
				f.open = f.open[1:]
			}
		}
	}
}

func (f *flood) end() {
	select {
	case <-f.over:
	default:
		close(f.stop)
		<-f.over
	}
}

// listening are the TCP ports of a host at which something listens.
func listening(h *hosts.Host) (ports []int) {
	h.Do(func() {
		file, err := os.Open("/proc/thread-self/net/tcp")
		if err != nil {
			return
		}
		defer file.Close()
		for s := bufio.NewScanner(file); s.Scan(); {
			fields := strings.Fields(s.Text())
			if len(fields) < 4 || fields[3] != "0A" { // LISTEN
				continue
			}
			address, port, _ := strings.Cut(fields[1], ":")
			if ip, err := hex.DecodeString(address); err != nil || len(ip) != 4 || ip[3] == 127 {
				continue
			}
			if p, err := strconv.ParseUint(port, 16, 16); err == nil {
				ports = append(ports, int(p))
			}
		}
	})
	return ports
}

// A host in the network that isn't of the job opens thousands of connections to all its ports, from
// its start to its end. The job starts, survives a death, heals and ends as if it weren't there,
// and nobody is held for dead.
func TestStrangersInTheNetwork(t *testing.T) {
	t.Parallel()
	n := network(t, 4, 1)
	f := startFlood(t, n, 3, 0, 1, 2)
	s := spared(200)
	s.hold = true
	r := start(t, n, s)
	// How fast they come is the machine's affair, so the job waits for them: at each of its six
	// ports for twice as many as internal/runtime/handshake greets and parks of one host.
	r.await("a flood", func() bool { return f.opened.Load() >= 2000 })
	r.goOn()
	r.members[1].kill()
	r.takesPart(5)
	r.expectResults([]int{0, 2, 3})
	r.expectNoDeaths([]int{0, 2, 3}, 1)
	f.end()
	t.Logf("%d connections of strangers", f.opened.Load())
}
