package chart

import (
	"testing"

	"banyan/internal/study/planning/resilience"
)

func TestSpaced(t *testing.T) {
	for _, most := range []int{1, 2, 10, 1_000_000} {
		list := Spaced(most)
		if list[0] != 1 || list[len(list)-1] != most || len(list) > points+1 {
			t.Errorf("to %d: %v", most, list)
		}
		for i := 1; i < len(list); i++ {
			if list[i] <= list[i-1] {
				t.Fatalf("to %d: %d after %d", most, list[i], list[i-1])
			}
		}
	}
}

// Each degree has its curve, within the given sizes, and the cases that were simulated.
func TestEfficiency(t *testing.T) {
	job := resilience.Job{Work: 86400, Overhead: 0.05}
	job.MTBF, job.Cost, job.Restart = 365.25*86400, 60, 60
	sizes, degrees := []int{10, 1000}, []float64{1, 2}
	cases := job.Cases([]resilience.Comparison{resilience.SameNodes}, sizes, degrees)
	job.Run(&cases[2], 5, 1, nil)
	f := Efficiency(&job, sizes, degrees, cases)
	if len(f.Series) != 3 || f.Series[1].Name != "checkpoints alone, simulated" || len(f.Series[1].Points) != 1 || f.Series[1].Points[0].X != 1000 {
		t.Fatalf("%+v", f.Series)
	}
	for _, s := range f.Series {
		if first, last := s.Points[0].X, s.Points[len(s.Points)-1].X; first < 10 || last != 1000 {
			t.Errorf("%s from %g to %g", s.Name, first, last)
		}
	}
	if _, err := f.SVG(); err != nil {
		t.Error(err)
	}
	if one := Efficiency(&job, sizes[1:], degrees[:1], nil); len(one.Series) != 1 || one.Series[0].Points[0].X != 1 {
		t.Errorf("of one size: %+v", one.Series)
	}
}
