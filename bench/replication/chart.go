package replication

import (
	"math"

	"banyan/internal/study/report"
)

// Figures are the paper's figure 7 for one language: latency and throughput over the size.
func Figures(language string, rows []PingPong) []*report.Figure {
	x := report.Axis{Label: "bytes", Log: true}
	latency := &report.Figure{Name: "latency", Title: "Ping-pong, " + language, X: x, Y: report.Axis{Label: "µs one way", Log: true}}
	throughput := &report.Figure{Name: "throughput", Title: "Ping-pong, " + language, X: x, Y: report.Axis{Label: "MB/s", Log: true}}
	for s := Beside; s < settings; s++ {
		name := s.String()
		if s == Beside {
			name = "not replicated, " + name
		}
		a := report.Series{Name: name, Spread: report.Whiskers}
		b := report.Series{Name: name}
		for _, r := range rows {
			if r.Language != language {
				continue
			}
			t := r.Times[s]
			if math.IsNaN(t.Median) {
				continue // not measured
			}
			a.Points = append(a.Points, report.Point{X: float64(r.Bytes), Y: t.Median / 1e3, Low: t.Low / 1e3, High: t.High / 1e3})
			b.Points = append(b.Points, report.Point{X: float64(r.Bytes), Y: float64(r.Bytes) / t.Median * 1e3})
		}
		if len(a.Points) == 0 {
			continue
		}
		latency.Series, throughput.Series = append(latency.Series, a), append(throughput.Series, b)
	}
	return []*report.Figure{latency, throughput}
}
