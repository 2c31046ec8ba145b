package detection

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"banyan/bench/processes"
)

// The network of a run with the fault Partition: every member lives in a network namespace of its
// own, with one link to the switch, a process in another one, which forwards between them. To cut
// a member off the switch takes its link down. What others send to it vanishes in a route that
// was there all the time, so that no sender gets an error.
//
// No part of it has a name outside, and it ends with the processes. The switch is a router, not a
// bridge, so that no member has more than one neighbour: all namespaces share the kernel's table
// of neighbours, which is small.

const (
	gateway    = "10.66.255.254"
	memberLink = "eth0"
)

// memberAddress is the address of a member.
func memberAddress(i int) string { return fmt.Sprintf("10.66.%d.%d", i/250, i%250+1) }

// hubLink is the switch's end of a member's link.
func hubLink(i int) string { return "v" + strconv.Itoa(i) }

// plugIn waits for the member's link, gives it its address, and waits until all members have got
// this far.
func (t task) plugIn(b *scoreboard, address string) error {
	state := b.word(t.Member, wordState)
	state.Store(unplugged)
	if !processes.WaitFor(nil, t.startLimit(), func() bool {
		_, err := net.InterfaceByName(memberLink)
		return err == nil
	}) {
		return fmt.Errorf("no link after %v", t.startLimit())
	}
	if err := ip(
		"link set lo up",
		"addr add "+address+"/32 dev "+memberLink,
		"link set "+memberLink+" up",
		"route add "+gateway+" dev "+memberLink,
		"route add default via "+gateway,
	); err != nil {
		return err
	}
	state.Store(plugged)
	if !processes.WaitFor(nil, t.startLimit(), func() bool { return b.connected().Load() != 0 }) {
		return fmt.Errorf("the switch isn't ready after %v", t.startLimit())
	}
	return nil
}

// ip runs the command ip in this process's namespace.
func ip(lines ...string) error {
	c := exec.Command("ip", "-batch", "-")
	c.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("ip: %w: %.200s", err, out)
	}
	return nil
}

// checkNetwork returns an error that says why such a network can't be made.
func checkNetwork() error {
	if os.Geteuid() != 0 {
		return errors.New("--fault partition: needs root, for network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return errors.New("--fault partition: needs the command ip (package iproute2)")
	}
	return nil
}

// connect is what the switch does: it waits until all members have their namespaces, connects
// them, and cuts off those whose numbers it reads.
func (t task) connect() error {
	b, err := openScoreboard(t.Scoreboard, t.N)
	if err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
		return err
	}
	lines := []string{"link set lo up", "addr add " + gateway + "/32 dev lo"}
	if err := ip(lines...); err != nil {
		return err
	}
	if !processes.WaitFor(nil, t.startLimit(), func() bool { return len(b.missing(unplugged)) == 0 }) {
		return fmt.Errorf("members %v haven't come to the switch after %v", b.missing(unplugged), t.startLimit())
	}
	lines = lines[:0]
	for i := range t.N {
		pid := b.word(i, wordPid).Load()
		lines = append(lines,
			fmt.Sprintf("link add %s type veth peer name %s netns %d", hubLink(i), memberLink, pid),
			fmt.Sprintf("link set %s up", hubLink(i)),
			fmt.Sprintf("route add %s/32 dev %s", memberAddress(i), hubLink(i)),
			fmt.Sprintf("route add blackhole %s/32 metric 1000", memberAddress(i)))
	}
	if err := ip(lines...); err != nil {
		return err
	}
	if !processes.WaitFor(nil, t.startLimit(), func() bool { return len(b.missing(plugged)) == 0 }) {
		return fmt.Errorf("members %v haven't plugged in after %v", b.missing(plugged), t.startLimit())
	}
	b.connected().Store(1)
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		i, err := strconv.Atoi(in.Text())
		if err != nil || i < 0 || i >= t.N {
			return fmt.Errorf("cut off %q", in.Text())
		}
		link, err := unix.NewIfreq(hubLink(i))
		if err != nil {
			return err
		}
		link.SetUint16(0) // not IFF_UP
		b.struck().Store(processes.Monotonic())
		if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, link); err != nil {
			return fmt.Errorf("cutting off member %d: %w", i, err)
		}
	}
	time.Sleep(time.Hour) // the bench has gone, and this process goes with it
	return nil
}
