package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestWhatProgramsLink says what programs of the library's users, and mpiexec, don't link: what
// only the command banyan needs to show jobs.
func TestWhatProgramsLink(t *testing.T) {
	dependencies := func(packages ...string) string {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, packages...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if all := dependencies("banyan/cmd/banyan"); !strings.Contains(all, "prometheus") || !strings.Contains(all, "banyan/internal/job/status/serve\n") {
		t.Error("the command banyan shows no jobs: this test can't fail")
	}
	for line := range strings.Lines(dependencies("banyan/mpi", "banyan/group", "banyan/capi", "banyan/cmd/banyan/mpiexec")) {
		for _, heavy := range []string{"prometheus", "internal/job/status/", "internal/study/report", "gonum.org", "parquet"} {
			if strings.Contains(line, heavy) {
				t.Errorf("a program of a user links %s", line)
			}
		}
	}
}
