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
	// Programs in Go need no cgo, and no module but this one and x/sys.
	for line := range strings.Lines(dependencies("-f", `{{if not .Standard}}{{.ImportPath}} {{.Module.Path}}{{if .CgoFiles}} cgo{{end}}{{end}}`, "banyan/mpi", "banyan/group")) {
		switch fields := strings.Fields(line); {
		case len(fields) == 0:
		case len(fields) > 2 || fields[1] != "banyan" && fields[1] != "golang.org/x/sys":
			t.Errorf("a program in Go links %s", line)
		}
	}
	if all := dependencies("-f", `{{if .CgoFiles}}{{.ImportPath}}{{end}}`, "banyan/capi"); !strings.Contains(all, "banyan/capi") {
		t.Error("the C library has no cgo: this test can't fail")
	}
	for line := range strings.Lines(dependencies("banyan/mpi", "banyan/group", "banyan/capi", "banyan/cmd/banyan/mpiexec")) {
		for _, heavy := range []string{"prometheus", "net/http", "internal/job/status/", "internal/study/report", "gonum.org", "parquet"} {
			if strings.Contains(line, heavy) {
				t.Errorf("a program of a user links %s", line)
			}
		}
	}
	// Builds start the compilers thousands of times, so they link little.
	for line := range strings.Lines(dependencies("-f", `{{if not .Standard}}{{.ImportPath}} {{.Module.Path}}{{end}}`, "banyan/cmd/banyan/mpicc")) {
		switch fields := strings.Fields(line); {
		case len(fields) == 0:
		case fields[1] != "banyan" && fields[1] != "golang.org/x/sys", strings.HasPrefix(fields[0], "banyan/internal/job/") && fields[0] != "banyan/internal/job/compiler" && fields[0] != "banyan/internal/job/env":
			t.Errorf("mpicc links %s", line)
		}
	}
	if all := dependencies("banyan/cmd/banyan/mpicc"); strings.Contains(all, "net/http\n") || !strings.Contains(all, "banyan/internal/job/compiler\n") {
		t.Error("mpicc links net/http, or no compiler")
	}
}
