package replication

import "testing"

// BenchmarkHalo simulates a 2-D halo of 4,096 ranks; the unit is a frame.
func BenchmarkHalo(b *testing.B) {
	s := small("halo2d", 4096, 2)
	s.Compute, s.Steps = 1e6, 20
	frames := int64(0)
	for b.Loop() {
		frames += mustRun(b, s, 1).Frames()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
}
