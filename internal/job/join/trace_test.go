package join_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// footprint is what a process holds of shared memory and of sockets with a name.
func footprint(pid int) (rings int, sockets []string) {
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	rings = strings.Count(string(maps), "memfd:banyan-rings")
	names, _ := os.ReadFile("/proc/net/unix")
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, l := range links {
		target, _ := os.Readlink(l)
		inode, ok := strings.CutPrefix(target, "socket:[")
		if !ok {
			continue
		}
		for line := range strings.Lines(string(names)) {
			if f := strings.Fields(line); len(f) == 8 && f[6] == strings.TrimSuffix(inode, "]") {
				sockets = append(sockets, f[7])
			}
		}
	}
	return rings, sockets
}

// A job whose processes are all killed at once, in the middle of their messages, leaves
// nothing behind: no memory, no name.
func TestKilledTogetherLeaveNothing(t *testing.T) {
	members := start(t, 4, 1)
	var sockets []string
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		ready := true
		sockets = nil
		for _, m := range members {
			rings, names := footprint(m.Cmd.Process.Pid)
			ready = ready && rings > 0
			sockets = append(sockets, names...)
		}
		if ready && len(sockets) >= len(members) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the processes share no memory, or have no sockets with names: %q", sockets)
		}
	}
	for _, m := range members {
		m.Cmd.Process.Kill()
	}
	for _, m := range members {
		m.wait(t)
	}
	names, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sockets {
		if strings.Contains(string(names), s) {
			t.Errorf("the socket %s is left", s)
		}
	}
	for _, dir := range []string{"/dev/shm", os.TempDir()} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			for _, m := range members {
				if strings.Contains(e.Name(), fmt.Sprint(m.Cmd.Process.Pid)) && strings.Contains(e.Name(), "banyan") {
					t.Errorf("%s/%s is left", dir, e.Name())
				}
			}
		}
	}
}
