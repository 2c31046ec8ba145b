package join

import (
	"strings"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/proto"
)

func TestLayout(t *testing.T) {
	for _, tc := range []struct {
		text  string
		procs int
		ranks int
		last  int // the rank of the last process
	}{{"", 3, 3, 2}, {"2", 6, 3, 2}, {"2,1,2", 5, 3, 2}, {"1,3", 4, 2, 1}} {
		t.Setenv(env.Replicas, tc.text)
		l, err := readLayout(tc.procs)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
			continue
		}
		if last := l.Rank(proto.Proc(tc.procs - 1)); l.Procs() != tc.procs || l.Ranks() != tc.ranks || int(last) != tc.last {
			t.Errorf("%q: %d processes of %d ranks, the last of rank %d", tc.text, l.Procs(), l.Ranks(), last)
		}
	}
	for text, want := range map[string]string{
		"0": "positive number", "x": "positive number", "65": "can't be ranks", "2": "can't be ranks",
		"2,0": "numbers from 1 to 64", "2,": "numbers from 1 to 64", "2,2": env.Replicas + `="2,2": 4 replicas of 2 ranks, in a job of 5 processes`,
	} {
		t.Setenv(env.Replicas, text)
		if l, err := readLayout(5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want an error with %q", text, l, err, want)
		}
	}
}
