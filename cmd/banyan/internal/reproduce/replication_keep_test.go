package reproduce

import (
	"slices"
	"testing"

	benchreplication "banyan/bench/replication"
	"banyan/internal/study/pieces"
)

// TestOnly: a part that --only leaves out isn't measured, and comes from what is kept.
func TestOnly(t *testing.T) {
	store, err := pieces.Open(t.TempDir(), 1, "")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ran := 0
	run := func(only ...string) (seconds []float64, missing bool) {
		t.Helper()
		k := keeping{store: store}
		if k.parts, err = parseParts(only); err != nil {
			t.Fatal(err)
		}
		keep := k.keep(t.Context())
		for i, part := range []string{benchreplication.PartApplication, benchreplication.PartPingPong, benchreplication.PartFailover} {
			samples, err := keep(part, "round 0 of "+part, func() ([]benchreplication.Sample, error) {
				ran++
				return []benchreplication.Sample{{Part: part, Seconds: float64(i)}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range samples {
				seconds = append(seconds, s.Seconds)
			}
		}
		return seconds, k.missing
	}
	for _, c := range []struct {
		only    []string
		want    []float64
		missing bool
		ran     int
	}{
		{[]string{"pingpong"}, []float64{1}, true, 1},
		{[]string{"failover", "frames"}, []float64{1, 2}, true, 2},
		{[]string{"pingpong"}, []float64{1, 2}, true, 2},
		{nil, []float64{0, 1, 2}, false, 3},
		{[]string{"applications"}, []float64{0, 1, 2}, false, 3},
	} {
		if got, missing := run(c.only...); !slices.Equal(got, c.want) || missing != c.missing || ran != c.ran {
			t.Errorf("only %v: %v, missing %v, %d measured so far", c.only, got, missing, ran)
		}
	}
	if _, err := parseParts([]string{"tables"}); err == nil {
		t.Error("a part that there isn't")
	}
}
