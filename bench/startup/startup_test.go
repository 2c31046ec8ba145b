package startup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/bench/peers"
)

// A job of one process without a launcher, and a compiler that is a script: plausible output is
// read, impossible output refused.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// It gets the number of processes, the program, and when that was started.
	launcher := script("launcher", `[ "$1" = 5 ] || exit 7
[ "$2" = --host ] && [ "$3" = a,b ] || exit 8
[ "$4" = --report ] || exit 9
echo "{\"start\": \"$(date +%Y-%m-%dT%H:%M:%S.%NZ -u)\", \"connect_s\": 1e-6, \"agents_s\": 2e-6}" >"$5"
"$6" "$7"`)
	l := peers.Library{Name: "some", Exec: []string{launcher}, Hosts: "--host", Report: "--report"}
	j, err := Run(context.Background(), l, script("good", `echo 1000 2000 $(( $(date +%s%N) - $1 )) 10 20 20 8192 4096`), 5, "a,b")
	if p := j.Phases; p == nil || p.Connected != time.Microsecond || p.Agents != 2*time.Microsecond || p.Forked <= 0 || p.Forked > j.Ended {
		t.Errorf("%+v", p)
	}
	if err != nil || j.Rss != 8192 || j.Pss != 4096 || j.Started > j.Ended || j.InMain != time.Microsecond || j.Initialized != 2*time.Microsecond || j.InMainCPU != 10 || j.StartedCPU != 20 || j.CPU <= 0 || j.Started <= j.Initialized || j.Ended > time.Minute {
		t.Errorf("%+v, %v", j, err)
	}
	for text, want := range map[string]string{
		"echo no numbers":                       "printed",
		"echo 1 2 3":                            "printed",
		"echo 1 2 3 1 1 1 4 5":                  "can't be", // more in proportion than resident
		"echo 1 2 999999999999999999 1 1 1 4 3": "can't be", // started after its end
		"echo 2 1 3 1 1 1 5 4":                  "can't be", // past MPI_Init before main
		"echo 1 2 3 1 3 2 5 4":                  "can't be", // processor time was given back
		"echo late >&2; exit 3":                 "late",
	} {
		if _, err := Run(context.Background(), l, script("bad", text), 5, "a,b"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Phases that can't be are refused.
func TestPhases(t *testing.T) {
	begin := time.Now()
	for text, ok := range map[string]bool{
		`{"start": "` + begin.Add(time.Second).Format(time.RFC3339Nano) + `"}`:                                     true,
		`{"start": "` + begin.Add(time.Second).Format(time.RFC3339Nano) + `", "connect_s": 0.5, "agents_s": 0.25}`: false,
		`{"start": "` + begin.Add(time.Second).Format(time.RFC3339Nano) + `", "agents_s": 2}`:                      false,
		`{}`:   false,
		`none`: false,
	} {
		file := filepath.Join(t.TempDir(), "report")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if p, err := readPhases(file, begin); (err == nil) != ok {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}
