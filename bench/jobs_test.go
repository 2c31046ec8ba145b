package bench

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The test is the jobs' worker, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := Perform(os.Stdout, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A job gives samples of its own, or none of so many ranks; one that fails says why. What real jobs
// give is in cmd/banyan/testdata/bench.txtar.
func TestJobs(t *testing.T) {
	j := Jobs{Worker: []string{os.Args[0], "worker"}, Operations: 100}
	for _, c := range []struct {
		s       Setting
		ranks   int
		pattern string
	}{
		{Setting{FloorTransport, 1}, 2, "pingpong"},
		{Setting{FloorTransport, 1}, 4, ""},
		{Setting{PeerTransport, 1}, 4, ""},
	} {
		samples, err := j.Run(c.s, c.ranks)
		if err != nil || (len(samples) > 0) != (c.pattern != "") {
			t.Errorf("%+v, %d ranks: %v, %d samples", c.s, c.ranks, err, len(samples))
			continue
		}
		for _, s := range samples {
			if s.Pattern != c.pattern || s.Ranks != c.ranks || !(s.Nanoseconds > 0) {
				t.Errorf("%+v: %+v", c.s, s)
			}
		}
	}
	if _, err := (Jobs{Worker: []string{os.Args[0], "worker", "nonsense"}, Operations: 1}).Run(Setting{LocalTransport, 1}, 2); err == nil || !strings.Contains(err.Error(), "a job ended with 1: ") {
		t.Errorf("a worker that fails: %v", err)
	}
}

func TestPerform(t *testing.T) {
	for _, args := range [][]string{nil, {"0"}, {"x"}, {"1", "echo"}, {"1", "local", "2"}, {"1", "local", "x", "1"}, {"1", "sing"}, {"local", "2", "1"}} {
		if err := Perform(new(bytes.Buffer), args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
