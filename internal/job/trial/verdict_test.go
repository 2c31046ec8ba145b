package trial

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"banyan/internal/job/check"
)

func TestVerdict(t *testing.T) {
	send := check.Event{Op: "MPI_Send", Peer: 1, Bytes: 8, Where: "a.c:3"}
	other := send
	other.Bytes = 16
	control := &check.Difference{Rank: 1, Number: 3, Replicas: [2]int{0, 1}, Calls: [2]check.Event{send, other}, Differs: []string{"length"}}
	data := &check.Difference{Rank: 1, Number: 2, Replicas: [2]int{0, 1}, Calls: [2]check.Event{send, send}, Differs: []string{"data"}}
	site := check.Site{Op: "MPI_Send", Where: "a.c:3"}
	for name, tc := range map[string]struct {
		verdict Verdict
		strict  bool
		want    []string
	}{
		"nothing found": {
			verdict: Verdict{Runs: 5, FirstSeed: 1, Seed: 5, Calls: 7},
			want:    []string{"no difference in what replicas send found in 5 runs (4 ranks, 2 replicas, seeds 1 to 5; 7 calls compared)\n"},
		},
		"control": {
			verdict: Verdict{Runs: 1, FirstSeed: 1, Seed: 1, Calls: 1, Findings: &check.Summary{Found: []*check.Difference{control, data}, Payload: data}},
			want: []string{"not send-deterministic: found in run 1 of 5, with seed 1 (4 ranks, 2 replicas, seed 1; 1 call compared)\n",
				"later, perhaps in consequence: rank 1 in call 2;"},
		},
		"data": {
			verdict: Verdict{Runs: 2, FirstSeed: 1, Seed: 2, Payloads: check.Sites{site: 3}, Payload: data, PayloadSeed: 2},
			want:    []string{"no difference but of data", "warning: in 3 calls the data differs", "      3 of MPI_Send, at a.c:3\n", "the first (seed 2):"},
		},
		"data, strictly": {
			verdict: Verdict{Runs: 2, FirstSeed: 1, Seed: 2, Payloads: check.Sites{site: 3}, Payload: data},
			strict:  true,
			want:    []string{"failure (--strict): in 3 calls"},
		},
		"a failure": {
			verdict: Verdict{Runs: 1, FirstSeed: 9, Seed: 9, Failure: "the job ended with exit code 3", Output: "oh\ndear\n"},
			want:    []string{"run 1 of 5, with seed 9, came to nothing: the job ended with exit code 3\n", "  | oh\n  | dear\n"},
		},
	} {
		v := tc.verdict
		v.Ranks, v.Replicas, v.Planned = 4, 2, 5
		var text, object bytes.Buffer
		if err := v.WriteText(&text, tc.strict); err != nil {
			t.Fatal(err)
		}
		for _, want := range tc.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: %q isn't in\n%s", name, want, &text)
			}
		}
		if err := v.WriteJSON(&object); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Diverged bool
			Seed     uint64
			Found    *uint64 `json:"found_seed"`
			Failure  string
		}
		if err := json.Unmarshal(object.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Diverged != v.Diverged() || (got.Found != nil) != v.Diverged() || got.Seed != v.FirstSeed || got.Failure != v.Failure {
			t.Errorf("%s: JSON is %s", name, &object)
		}
	}
}

func TestTail(t *testing.T) {
	var kept tail
	for range tailKept {
		kept.Write([]byte("ab"))
	}
	kept.Write([]byte("end"))
	if s := string(kept.kept); len(s) != tailKept || !strings.HasSuffix(s, "abend") {
		t.Errorf("%d bytes are kept, to %q", len(s), s[len(s)-5:])
	}
}
