package steward

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent/deadline"
	"banyan/internal/proto"
)

// alone is set in a process that plays one test, and may cut all of its connections.
const alone = "BANYAN_TEST_ALONE"

// cutConnections has all connections that this process has drop what comes. New ones don't.
func cutConnections() {
	drop := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}}
	for fd := range 1024 {
		_ = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop[0]})
	}
}

// Connections on which nothing gets through any more, and of which no side is told, are given up in
// time: a firewall that was started anew makes such ones, and a cut, after which the kernel doesn't
// send again for as long as it has lasted. Nobody's lease ends for that.
func TestSilentConnections(t *testing.T) {
	if os.Getenv(alone) == "" {
		t.Parallel()
		c := exec.Command("/proc/self/exe", "-test.run", "^TestSilentConnections$", "-test.v")
		c.Env = append(os.Environ(), alone+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	const lease = 5 * proto.Time(time.Second)
	parties, _ := groupOf(t, lease)
	held := func(until proto.Time) bool {
		for _, p := range parties {
			p.mu.Lock()
			is := p.until >= until
			p.mu.Unlock()
			if !is {
				return false
			}
		}
		return true
	}
	await(t, "leases", func() bool { return held(1) })
	begun := deadline.Now()
	await(t, "more leases", func() bool { return held(begun + lease) })
	cutConnections()
	cut := deadline.Now()
	await(t, "leases again, or none", func() bool { return held(cut+lease+proto.Time(time.Second)) || !held(1) })
	if !held(1) {
		t.Errorf("a lease is over %v after the cut", time.Duration(deadline.Now()-cut))
	}
}
