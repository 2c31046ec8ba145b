package join

import (
	"testing"

	"banyan/internal/job/env"
)

// Processes on other hosts don't oversubscribe this one.
func TestOversubscribed(t *testing.T) {
	h := processHosts{self: 3, procs: 5, hosts: []int32{0, 0, 0, 1, 1}}
	for cores, want := range map[string]bool{"1": true, "2": false, "64": false} {
		t.Setenv(env.Cores, cores)
		if got, err := h.oversubscribed(); err != nil || got != want {
			t.Errorf("%s cores for 2 processes: %v, %v", cores, got, err)
		}
	}
	h.hosts = nil
	t.Setenv(env.Cores, "4")
	if got, err := h.oversubscribed(); err != nil || !got {
		t.Errorf("4 cores for 5 processes: %v, %v", got, err)
	}
	t.Setenv(env.Cores, "none")
	if _, err := h.oversubscribed(); err == nil {
		t.Error("none is no number of cores")
	}
}
