package groupnode

import (
	"crypto/sha256"
	"fmt"
	"os"
	"syscall"
)

// homeHere is that of this process.
func homeHere() (h home) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var ns syscall.Stat_t
	if err != nil || syscall.Stat("/proc/self/ns/net", &ns) != nil {
		return home{}
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", boot, ns.Dev, ns.Ino))
	copy(h[:], digest[:])
	return h
}
