package group_test

import (
	"fmt"
	"os"
	"sync/atomic"
)

// ownPort is the next port of this test process's own host.
var ownPort atomic.Int32

// ownAddresses are n addresses at which nobody else listens, now or later: on a loopback address
// that only this test process uses, and below the ports that the kernel gives away. A port that the
// kernel chose, and that a process gives up when it is killed, may be another test's when the
// process comes back: it would fail, or meet a member of the other test's group.
func ownAddresses(n int) (list []string) {
	pid := os.Getpid()
	host := fmt.Sprintf("127.%d.%d.%d", 251+pid>>16&3, pid>>8&255, pid&255)
	end := 10000 + ownPort.Add(int32(n))
	for port := end - int32(n); port < end; port++ {
		list = append(list, fmt.Sprintf("%s:%d", host, port))
	}
	return list
}
