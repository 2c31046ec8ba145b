package page

import (
	"slices"

	"banyan/internal/study/ratio"
)

// rows sums up the jobs of whole rounds; nil if there is none.
func rows(done map[Setting][]job) (all []Row) {
	off := done[Off]
	for _, s := range settings {
		jobs := done[s]
		if len(jobs) == 0 {
			return nil
		}
		var times, cpus, bytes, byTime, byCPU []float64
		for i, j := range jobs {
			times, cpus, bytes = append(times, j.took.Seconds()), append(cpus, j.cpu.Seconds()), append(bytes, float64(j.bytes))
			byTime = append(byTime, j.took.Seconds()/off[i].took.Seconds())
			byCPU = append(byCPU, j.cpu.Seconds()/off[i].cpu.Seconds())
		}
		all = append(all, Row{
			Setting: s, Seconds: median(times), CPU: median(cpus), Bytes: median(bytes),
			Time: ratio.Of(byTime), Processor: ratio.Of(byCPU),
		})
	}
	return all
}

// median sorts its values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
