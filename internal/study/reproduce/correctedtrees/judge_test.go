package correctedtrees

import (
	"testing"

	"banyan/internal/study/report"
)

// TestJudge: only an interval that is narrow enough to show a difference may agree.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      report.Verdict
	}{
		{16.8, 17.3, report.Agrees}, {16, 16.6, report.Agrees}, {17.4, 19, report.Agrees},
		{15, 16.4, report.Differs}, {17.5, 18, report.Differs}, {20, 60, report.Differs},
		{10, 30, report.Open}, {17, 19.1, report.Open},
	} {
		if got := judge(c.low, c.high, 16.5, 17.5); got != c.want {
			t.Errorf("%g to %g for 17: %s, want %s", c.low, c.high, got, c.want)
		}
	}
	if either(report.Differs, report.Agrees) != report.Agrees || either(report.Differs, report.Open) != report.Open || either(report.Differs, report.Differs) != report.Differs {
		t.Error("either")
	}
}
