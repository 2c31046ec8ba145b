package resilience

import "testing"

// Each size has one best degree if the job ends with any, and what pays does so from some size on.
func TestCases(t *testing.T) {
	job := Job{Work: 7 * 86400, Overhead: 0.05}
	job.MTBF, job.Cost, job.Restart = 5*365.25*86400, 600, 600
	sizes, degrees := []int{1000, 100_000, 1_000_000}, []float64{1, 2, 3}
	all := job.Cases([]Comparison{SameNodes, SameRanks}, sizes, degrees)
	if len(all) != 18 {
		t.Fatalf("%d cases", len(all))
	}
	for first := 0; first < len(all); first += len(degrees) {
		best, ends := 0, false
		for i := range degrees {
			c := &all[first+i]
			ends = ends || c.Ends
			if c.Degree != Degree(degrees[i]) || (c.PaysFrom > 0) != (c.Degree > 1) {
				t.Errorf("%+v", c)
			}
			if c.Best {
				best++
				for k := range degrees {
					if all[first+k].Time < c.Time {
						t.Errorf("degree %v isn't the best, %v is", c.Degree, all[first+k].Degree)
					}
				}
			}
		}
		if best > 1 || ends != (best == 1) {
			t.Errorf("%d of a size are the best", best)
		}
	}
	if few, many := &all[0], &all[7]; !few.Best || !many.Best {
		t.Errorf("1,000 nodes want no replication, and a million two: %+v %+v", few, many)
	}
}

// What takes too long isn't simulated.
func TestRun(t *testing.T) {
	job := Job{Work: 86400}
	job.MTBF, job.Cost, job.Restart = 365.25*86400, 60, 60
	all := job.Cases([]Comparison{SameRanks}, []int{100, MaxNodes / MaxDegree}, []float64{1})
	runs := 0
	for i := range all {
		job.Run(&all[i], 5, 1, func() { runs++ })
	}
	if all[0].Simulated == nil || all[1].Simulated != nil || runs != 5 {
		t.Errorf("%d runs, %+v", runs, all)
	}
}
