package remote

import (
	"net"
	"strconv"
)

// Addresses are where other hosts can find a port of this one, as HOST:PORT: at all addresses but
// those of the loopback, unless there are no others.
func Addresses(port int) []string {
	var four, six, loopback []string
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		text := net.JoinHostPort(n.IP.String(), strconv.Itoa(port))
		switch {
		case n.IP.IsLoopback():
			loopback = append(loopback, text)
		case !n.IP.IsGlobalUnicast():
		case n.IP.To4() != nil:
			four = append(four, text)
		default:
			six = append(six, text)
		}
	}
	if found := append(four, six...); len(found) > 0 {
		return found
	}
	return loopback
}
