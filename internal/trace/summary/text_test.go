package summary

import (
	"errors"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/topology"
	"banyan/internal/trace"
)

// wantText is what people see of a broadcast among 64 processes, 2 of them dead.
const wantText = `messages    327      5.1 a process: dissemination 47, correction 280; 12 lost at dead processes
unreached   0        of 62 live; coloured by dissemination 46, correction 16
coloring    28       half at 15, 90 % at 28, 99 % at 28
quiescence  34
max_gap     1        18 gaps in dissemination: 18 of length 1

processes coloured at each time
        0–1   1  ███▏
        2–3   0
        4–5   2  ██████▎
        6–7   2  ██████▎
        8–9   4  ████████████▌
      10–11   6  ██████████████████▊
      12–13   7  █████████████████████▉
      14–15  13  ████████████████████████████████████████▋
      16–17   2  ██████▎
      18–19   7  █████████████████████▉
      20–21   2  ██████▎
      22–23   0
      24–25   0
      26–27   0
      28–29  16  ██████████████████████████████████████████████████
`

func TestWrite(t *testing.T) {
	s, _ := simulate(t, &logp.Case{
		Procs: 64, Latency: 2, Overhead: 1, Tree: logp.Binomial, Numbering: topology.Interleaved,
		Correction: broadcast.Checked, Synchronised: true, Failed: []int{3, 17},
	})
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != wantText {
		t.Errorf("got\n%s\nwant\n%s", got, wantText)
	}
}

func TestWriteNothing(t *testing.T) {
	var b strings.Builder
	var s Summary
	for range 3 {
		s.Process(proto.Never, trace.Other, false, false)
	}
	if err := s.Write(&b); err != nil || !strings.Contains(b.String(), "unreached   3        of 3 live; coloured by none") {
		t.Errorf("error %v, got\n%s", err, b.String())
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteError(t *testing.T) {
	if new(Summary).Write(failing{}) == nil {
		t.Error("the writer's error is lost")
	}
}

func TestBar(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "▏", 500: strings.Repeat("█", 25), 1000: strings.Repeat("█", 50), 23: "█▏"} {
		if got := bar(n, 1000); got != want {
			t.Errorf("bar of %d is %q, want %q", n, got, want)
		}
	}
}
