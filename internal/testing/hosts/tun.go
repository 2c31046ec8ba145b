package hosts

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

const tunName = "wire0"

// netmask covers all hosts of a network.
var netmask = netip.AddrFrom4([4]byte{255, 255, 255, 0})

// openTun makes a TUN device in the network namespace of the calling thread, and returns its other
// end. A read returns a packet that the namespace sent; a write is a packet that it receives. The
// other end works from any namespace. Closing it removes the device.
func openTun(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	r, err := unix.NewIfreq(name)
	if err == nil {
		r.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, r)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("a TUN device: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// setUp gives an interface of the calling thread's namespace its address, and
// takes it and the loopback interface into operation.
func setUp(name string, addr netip.Addr) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("a socket: %w", err)
	}
	defer unix.Close(fd)
	for _, set := range []struct {
		name    string
		request uint
		fill    func(*unix.Ifreq) error
	}{
		{"lo", unix.SIOCSIFFLAGS, flags(unix.IFF_UP)},
		{name, unix.SIOCSIFADDR, address(addr)},
		{name, unix.SIOCSIFNETMASK, address(netmask)},
		{name, unix.SIOCSIFFLAGS, flags(unix.IFF_UP | unix.IFF_RUNNING)},
	} {
		r, err := unix.NewIfreq(set.name)
		if err == nil {
			err = set.fill(r)
		}
		if err == nil {
			err = unix.IoctlIfreq(fd, set.request, r)
		}
		if err != nil {
			return fmt.Errorf("interface %s: %w", set.name, err)
		}
	}
	return nil
}

func flags(f uint16) func(*unix.Ifreq) error {
	return func(r *unix.Ifreq) error { r.SetUint16(f); return nil }
}

func address(a netip.Addr) func(*unix.Ifreq) error {
	return func(r *unix.Ifreq) error { return r.SetInet4Addr(a.AsSlice()) }
}
