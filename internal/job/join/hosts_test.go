package join

import (
	"testing"

	"banyan/internal/job/env"
)

// Processes on other hosts don't crowd this one.
func TestCrowd(t *testing.T) {
	h := processHosts{self: 3, procs: 5, hosts: []int32{0, 0, 0, 1, 1}}
	for cores, want := range map[string]int{"1": 2, "2": 1, "64": 1} {
		t.Setenv(env.Cores, cores)
		if got, err := h.crowd(); err != nil || got != want {
			t.Errorf("%s cores for 2 processes: %v, %v", cores, got, err)
		}
	}
	h.hosts = nil
	t.Setenv(env.Cores, "4")
	if got, err := h.crowd(); err != nil || got != 2 {
		t.Errorf("4 cores for 5 processes: %v, %v", got, err)
	}
	t.Setenv(env.Cores, "none")
	if _, err := h.crowd(); err == nil {
		t.Error("none is no number of cores")
	}
}
