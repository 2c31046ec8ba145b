package join

import (
	"banyan/internal/job/env"
	"banyan/internal/layout"

	"testing"
)

// Processes on other hosts don't crowd this one.
func TestOversubscribed(t *testing.T) {
	j := &Job{self: 3, hosts: []int32{0, 0, 0, 1, 1}, layout: layout.Uniform(5, 1)}
	for cores, want := range map[string]bool{"1": true, "2": false, "64": false} {
		t.Setenv(env.Cores, cores)
		if got, err := j.oversubscribed(); err != nil || got != want {
			t.Errorf("%s cores for 2 processes: %v, %v", cores, got, err)
		}
	}
	j.hosts = nil
	t.Setenv(env.Cores, "4")
	if got, err := j.oversubscribed(); err != nil || !got {
		t.Errorf("4 cores for 5 processes: %v, %v", got, err)
	}
	t.Setenv(env.Cores, "none")
	if _, err := j.oversubscribed(); err == nil {
		t.Error("none is no number of cores")
	}
}
