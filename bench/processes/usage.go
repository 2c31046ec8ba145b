package processes

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Used is what this process has used until a moment.
type Used struct {
	At             time.Time
	Processor      time.Duration // of all its threads, in the kernel too
	Packets, Bytes int64         // over the loopback interface of its network, by anybody
	Resident       int64         // bytes of memory now
}

// Usage reads what this process has used.
func Usage() (u Used, err error) {
	u.At = time.Now()
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return u, fmt.Errorf("getrusage: %w", err)
	}
	u.Processor = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	b, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return u, err
	}
	if u.Packets, u.Bytes, err = loopback(b); err != nil {
		return u, err
	}
	if b, err = os.ReadFile("/proc/self/statm"); err != nil {
		return u, err
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(b), &size, &resident); err != nil {
		return u, fmt.Errorf("/proc/self/statm: %w", err)
	}
	u.Resident = resident * int64(os.Getpagesize())
	return u, nil
}

// loopback reads what the loopback interface has received from the text of /proc/net/dev.
func loopback(text []byte) (packets, size int64, err error) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if counters, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "lo:"); ok {
			if _, err := fmt.Sscan(counters, &size, &packets); err != nil {
				return 0, 0, fmt.Errorf("/proc/net/dev: lo: %w", err)
			}
			return packets, size, nil
		}
	}
	return 0, 0, fmt.Errorf("/proc/net/dev: no interface lo")
}

// Descriptors is how many this process has open.
func Descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list) - 1 // that of the directory
}
