package correctedtrees

import (
	"strings"
	"testing"

	"banyan/internal/study/report"
)

// handMade is a study with 1,000 broadcasts of each tree at every rate. All have a gap of 1,
// except 30 broadcasts of the first tree with a gap of 5 and one with a gap of 9.
func handMade() *faultStudy {
	s := &faultStudy{procs: 1 << 16, points: map[point]*faultPoint{}}
	for range trees {
		s.pairs = append(s.pairs, map[[2]int]int{})
	}
	for tree := range trees {
		for _, rate := range rates {
			for i := range 1000 {
				gap := 1
				switch {
				case tree == 0 && i == 0:
					gap = 9
				case tree == 0 && i <= 30:
					gap = 5
				}
				took := faultFree + 2*gap
				s.add(tree, &result{dead: deadAt(rate, s.procs), maxGap: gap, quiescence: 64 + took, messages: 6 << 16}, took)
			}
		}
	}
	return s
}

// TestTable1: 31 of 4,000 are above 1, which is less than 1 % and more than 0.1 %.
func TestTable1(t *testing.T) {
	e := &experiment{Parameters: Default()}
	got := map[string]string{}
	for _, row := range e.table1(handMade()).Rows {
		if row[0] == "2" {
			got[row[3]+" "+row[4]] = row[6] + " " + row[7]
			if row[1] != "1311" || row[2] != "4000" {
				t.Errorf("%v: want 1311 dead, 4000 broadcasts", row)
			}
		}
	}
	for entry, want := range map[string]string{
		"g_max 99 %": "1 -7", "g_max 99.9 %": "5 -6", "g_max max": "9 -26",
		"L_SCC 99 %": "10 -9", "L_SCC 99.9 %": "18 -6", "L_SCC max": "26 -30",
	} {
		if got[entry] != want {
			t.Errorf("%s: %s, want %s", entry, got[entry], want)
		}
	}
}

// TestPercentileClaim: within 1 agrees; beyond it by chance is open, and surely beyond it
// differs.
func TestPercentileClaim(t *testing.T) {
	s := handMade()
	q := quantity{"gap", map[string][]float64{"99 %": {1, 1, 1, 1, 2}}, table1[0].of}
	if c := percentileClaim(s, q, "99 %", 0.99); c.Verdict != report.Agrees || c.Difference != "0, 0, 0, 0, -1" {
		t.Errorf("%+v", c)
	}
	q.paper["99 %"][3] = 3
	if c := percentileClaim(s, q, "99 %", 0.99); c.Verdict != report.Open || !strings.Contains(c.Explanation, "1–5") {
		t.Errorf("%+v", c)
	}
	q.paper["99 %"][3] = 7
	if c := percentileClaim(s, q, "99 %", 0.99); c.Verdict != report.Differs {
		t.Errorf("%+v", c)
	}
}

// TestMaximumClaim: one broadcast of few above the paper's maximum of many is unlikely.
func TestMaximumClaim(t *testing.T) {
	s := handMade()
	q := quantity{"gap", map[string][]float64{"max": {9, 9, 12, 30, 9}}, table1[0].of}
	if c := maximumClaim(s, q, "max"); c.Verdict != report.Open || c.Ours != "9, 9, 9, 9, 9" {
		t.Errorf("%+v", c)
	}
	q.paper["max"][1] = 4
	if c := maximumClaim(s, q, "max"); c.Verdict != report.Differs || !strings.Contains(c.Explanation, "0, 31, 0, 0, 0 exceed") {
		t.Errorf("%+v", c)
	}
}

// TestBroken: a broadcast outside the bounds, or one that doesn't reach a process, is counted
// and named.
func TestBroken(t *testing.T) {
	s := handMade()
	if s.outside != 0 || s.unreached != 0 || s.example != "" {
		t.Fatalf("%d outside, %d unreached: %s", s.outside, s.unreached, s.example)
	}
	s.add(2, &result{dead: 655, maxGap: 3, seed: 77, unreached: 1}, 16)
	if s.outside != 1 || s.unreached != 1 || !strings.Contains(s.example, "seed 77") {
		t.Errorf("%d outside, %d unreached: %s", s.outside, s.unreached, s.example)
	}
	s.procs = 1 << 16
	s.add(1, &result{dead: 655, maxGap: s.procs - 1, seed: 78}, s.procs+3) // only the root corrects
	if s.outside != 1 || s.alone != 1 {
		t.Errorf("%d outside, %d alone", s.outside, s.alone)
	}
}
