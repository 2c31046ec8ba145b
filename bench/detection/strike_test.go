package detection

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Two neighbours on the ring that fall silent together are known to all after 3δ, not after δ: the
// second has to hear of its new observer first.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	s := setting(BanyanBare, Stop)
	s.N, s.Victims, s.Where = 6, 2, Neighbours
	row := measure(t, s)
	if row.FalseSuspicions > 0 {
		t.Skipf("the machine is too busy: %v", row.Accusations)
	}
	if row.Known != 4 || row.Missing != 0 || row.Last < 5*s.Timeout/2 || row.Each > row.Last || row.Spread > row.Last {
		t.Errorf("%+v", row)
	}
}

func TestChoose(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for _, tc := range []struct {
		strike     Strike
		candidates []int
		fit        func(v []int) bool
	}{
		{Strike{}, all, func(v []int) bool { return len(v) == 1 }},
		{Strike{Victims: 4}, all, func(v []int) bool { return len(v) == 4 }},
		{Strike{Victims: 3}, all[:2], func(v []int) bool { return v == nil }},
		{Strike{Victims: 3, Where: Neighbours}, all, func(v []int) bool {
			return v[1] == (v[0]+11)%12 && v[2] == (v[1]+11)%12
		}},
		// Member 5 is doubted: no group goes across it.
		{Strike{Victims: 5, Where: Neighbours}, slices.Delete(slices.Clone(all), 5, 6), func(v []int) bool { return len(v) == 5 && !slices.Contains(v, 5) }},
		{Strike{Victims: 4, Where: WholeHost, HostSize: 4}, all, func(v []int) bool {
			return v[0]%4 == 0 && v[3] == v[0]+3
		}},
		// On a ring that alternates between hosts, neighbours are of two hosts.
		{Strike{Victims: 2, Where: Neighbours, HostSize: 4}, all, func(v []int) bool { return v[0]/4 != v[1]/4 }},
		{Strike{Victims: 4, Where: WholeHost, HostSize: 4}, []int{0, 1, 2, 5, 6, 7, 9, 10, 11}, func(v []int) bool { return v == nil }},
	} {
		s := setting(BanyanBare, Stop)
		s.N, s.Strike = 12, tc.strike
		for seed := range uint64(20) {
			v := s.choose(rand.New(rand.NewPCG(seed, 0)), tc.candidates)
			sorted := slices.Sorted(slices.Values(v))
			if !tc.fit(v) || len(slices.Compact(sorted)) != len(v) {
				t.Errorf("%+v of %v: %v", tc.strike, tc.candidates, v)
			}
		}
	}
}

func TestStrikeCheck(t *testing.T) {
	for _, tc := range []struct {
		change func(*Setting)
		says   string
	}{
		{func(s *Setting) { s.Victims = 6 }, "quorum"},
		{func(s *Setting) { s.Victims = -1 }, "--victims -1"},
		{func(s *Setting) { s.Victims, s.Fault = 2, None }, "--victims"},
		{func(s *Setting) { s.Victims, s.Fault = 2, Partition }, "cut off"},
		{func(s *Setting) { s.Where = "there" }, "--where"},
		{func(s *Setting) { s.Apart = time.Hour }, "--apart"},
		{func(s *Setting) { s.HostSize = 13 }, "--host-size"},
		{func(s *Setting) { s.HostSize, s.System = 2, Banyan }, "--bare"},
		{func(s *Setting) { s.Where = WholeHost }, "--host-size"},
		{func(s *Setting) { s.Where, s.HostSize, s.Victims = WholeHost, 2, 3 }, "multiple"},
	} {
		s := setting(BanyanBare, Stop)
		s.N = 12
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		tc.change(&s)
		if err := s.check(); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("want an error about %s, got %v", tc.says, err)
		}
	}
}

func TestKnowledge(t *testing.T) {
	k := knowledge{began: 1000, of: []heard{
		{struck: 1000, at: []int64{1300, 1100, 1200}},
		{struck: 1050, at: []int64{1150, 1450, 1250}},
	}}
	var r Row
	k.enter(&r)
	if r.First != 100 || r.Last != 450 || r.Each != (300+400)/2 || r.Spread != (200+300)/2 || r.Known != 3 || r.Missing != 0 {
		t.Errorf("%+v", r)
	}
	k.of[1].at, k.of[1].missing = k.of[1].at[:1], 2
	r = Row{}
	if k.enter(&r); r.Known != 1 || r.Missing != 2 || r.all() {
		t.Errorf("%+v", r)
	}
}

// TestStrikeReport: the report says whether the bound holds, and is open where runs are few.
func TestStrikeReport(t *testing.T) {
	rows := func(last time.Duration, victims, runs int) (all []Row) {
		for range runs {
			r := Row{Setting: setting(Banyan, Stop), Known: 9, Last: last, First: last / 2, Spread: time.Millisecond}
			r.N, r.Victims, r.Where = 12, victims, Neighbours
			all = append(all, r)
		}
		return all
	}
	verdicts := func(all []Row) string {
		r := StrikeReport("banyan bench detector", Summarise(all))
		dir := t.TempDir()
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, "claims.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	delta := setting(Banyan, Stop).Timeout
	if page := verdicts(append(rows(delta, 1, 6), rows(3*delta, 2, 6)...)); strings.Contains(page, "differs") || strings.Contains(page, "open") {
		t.Error(page)
	}
	if page := verdicts(rows(7*delta, 2, 6)); strings.Count(page, "differs") != 2 {
		t.Error(page)
	}
	if page := verdicts(rows(delta, 1, 2)); !strings.Contains(page, "open") {
		t.Error(page)
	}
}
