package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"banyan/internal/job/env"
)

// lookupLimit bounds the wait for a name service that doesn't answer.
const lookupLimit = time.Second

// listenAddress is where the other processes of the job reach this one. If all share its host, and
// replacements will, too, that is the loopback address, so that processes of other hosts can't even
// try. hosts is the host of each process, nil if unknown.
func listenAddress(hosts []int32) (string, error) {
	if wish := os.Getenv(env.Address); wish != "" {
		return wished(wish)
	}
	if hosts != nil && sameHost(hosts) && os.Getenv(env.Elsewhere) == "" {
		return "127.0.0.1", nil
	}
	local, err := localAddresses()
	if err != nil {
		return "", err
	}
	var named []net.IP
	if name, err := os.Hostname(); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), lookupLimit)
		defer cancel()
		named, _ = net.DefaultResolver.LookupIP(ctx, "ip", name)
	}
	switch ip := outward(named, local); {
	case ip != nil:
		return ip.String(), nil
	case hosts == nil || sameHost(hosts):
		return "127.0.0.1", nil // no other process can be on another host
	}
	return "", errors.New("the job has several hosts, but this one has no address that others could reach; " +
		env.Address + " can name one, or a network interface")
}

// wished is the address that a user asks for: an address, a host name or a network interface.
func wished(wish string) (string, error) {
	i, err := net.InterfaceByName(wish)
	if err != nil {
		return wish, nil // an address or a name, which the listener checks
	}
	addrs, err := i.Addrs()
	if err != nil {
		return "", fmt.Errorf("%s=%s: %w", env.Address, wish, err)
	}
	if ip := outward(nil, ips(addrs)); ip != nil {
		return ip.String(), nil
	}
	return "", fmt.Errorf("%s=%s: the interface has no address that others could reach", env.Address, wish)
}

func sameHost(hosts []int32) bool {
	for _, h := range hosts {
		if h != hosts[0] {
			return false
		}
	}
	return true
}

// outward chooses one of this host's addresses by which others reach it: the address of the
// host's name, or else the first one, of IP version 4 if there is one. The address of the name
// doesn't count if it is the loopback address or another host's. It returns nil if there is none.
func outward(named, local []net.IP) net.IP {
	var best net.IP
	for _, ip := range local {
		if !ip.IsGlobalUnicast() {
			continue
		}
		for _, n := range named {
			if n.Equal(ip) {
				return ip
			}
		}
		if best == nil || best.To4() == nil && ip.To4() != nil {
			best = ip
		}
	}
	return best
}

// localAddresses are the addresses of the interfaces that are up.
func localAddresses() ([]net.IP, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("network interfaces: %w", err)
	}
	var local []net.IP
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("addresses of %s: %w", i.Name, err)
		}
		local = append(local, ips(addrs)...)
	}
	return local, nil
}

func ips(addrs []net.Addr) []net.IP {
	var all []net.IP
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			all = append(all, n.IP)
		}
	}
	return all
}
