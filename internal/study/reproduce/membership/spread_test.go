package membership

import (
	"math"
	"testing"
)

func TestSpread(t *testing.T) {
	s := spreadOf([]float64{5, 1, 3, 2, 4})
	// Deviation √2.5, 4.604 of Student's t with 4 degrees of freedom at 99 %.
	if s.count != 5 || s.mean != 3 || s.median != 3 || math.Abs(s.error99-4.6041*math.Sqrt(2.5/5)) > 1e-3 || s.low >= s.median || s.high <= s.median {
		t.Errorf("%+v", s)
	}
	if s = spreadOf([]float64{4, 2}); s.median != 3 {
		t.Errorf("%+v", s)
	}
	if s = spreadOf([]float64{7}); s.mean != 7 || s.median != 7 || s.low != 7 || s.high != 7 || !math.IsInf(s.error99, 1) {
		t.Errorf("%+v", s)
	}
}
