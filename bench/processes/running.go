package processes

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// Running returns the numbers of the other processes that run a command. Tests ask whether a
// bench has left any behind.
func Running(command []string) (pids []int, err error) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && slices.Equal(strings.Split(strings.TrimRight(string(line), "\x00"), "\x00"), command) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
