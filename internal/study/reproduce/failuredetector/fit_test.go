package failuredetector

import (
	"math"
	"testing"
)

func TestFit(t *testing.T) {
	sizes := []int{8, 16, 64, 256, 1024}
	values := make([]float64, len(sizes))
	for i, n := range sizes {
		values[i] = 55 + 30/float64(n) + 3*math.Log2(float64(n))
	}
	f, err := newFit(sizes, values, constant, inverse, logarithm)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{55, 30, 3} {
		if math.Abs(f.by[i]-want) > 1e-6 {
			t.Errorf("coefficient %d is %v, want %v", i, f.by[i], want)
		}
	}
	if math.Abs(f.explained-1) > 1e-9 || math.Abs(f.at(512)-(55+30.0/512+27)) > 1e-6 {
		t.Errorf("R² = %v, at 512: %v", f.explained, f.at(512))
	}
	// A straight line explains nothing of values that rise and fall about their mean.
	if f, err = newFit([]int{1, 2, 3, 4}, []float64{1, -1, -1, 1}, constant, func(n float64) float64 { return n }); err != nil || math.Abs(f.explained) > 1e-9 {
		t.Errorf("R² = %v, %v", f.explained, err)
	}
	if _, err := newFit(sizes, values, constant, constant); err == nil {
		t.Error("a fit by twice the same function is one of many")
	}
}
