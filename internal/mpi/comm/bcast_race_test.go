package comm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
)

// race times two ways to broadcast arguments[0] bytes, arguments[1] times, in turn, as loops with a
// barrier inside: Bcast, and MessageBcast, which survives no death. For one of each, and for the
// barrier, rank 0 prints the nanoseconds and the frames it sent.
func race(w *comm.Comm, arguments []int) error {
	b := make([]byte, arguments[0])
	ways := []func() *comm.Plan{
		func() *comm.Plan { return w.Bcast(b, 0) },
		func() *comm.Plan { return w.MessageBcast(b, 0) },
		func() *comm.Plan { return w.Barrier() },
	}
	const rounds = 10
	took, frames := make([]time.Duration, len(ways)), make([]uint64, len(ways))
	for round := range rounds + 1 {
		for i, way := range ways {
			before, start := w.Engine().FramesSent(), time.Now()
			for range arguments[1] / rounds {
				if err := way().Run(); err != nil {
					return err
				}
				if err := w.Barrier().Run(); err != nil {
					return err
				}
			}
			if round > 0 { // round 0 warms up
				took[i] += time.Since(start)
				frames[i] += w.Engine().FramesSent() - before
			}
		}
	}
	if w.Rank() == 0 {
		for i := range ways {
			fmt.Println(took[i].Nanoseconds()/int64(arguments[1]), frames[i]*1000/uint64(arguments[1]))
		}
	}
	return nil
}

// BenchmarkBcast compares Bcast with a broadcast by messages, in processes. The figures are medians
// over its iterations. The ratio is that of Bcast with a barrier to the other with a barrier.
func BenchmarkBcast(b *testing.B) {
	for _, transport := range []string{launcher.TransportSHM, launcher.TransportTCP} {
		for _, n := range []int{2, 4, 8, 16} {
			for _, size := range []int{8, 4 << 10, 32 << 10, 64 << 10, 128 << 10, 1 << 20, 8 << 20} {
				b.Run(fmt.Sprintf("%s/%d/%d", transport, n, size), func(b *testing.B) {
					var ratios, times []float64
					frames := 0.0
					for range b.N {
						out, errs, report := processes(b, n, true, transport, "race", size, max(20, min(3000, (32<<20)/(size+1))))
						var took, sent [3]float64
						_, err := fmt.Sscan(strings.ReplaceAll(out, "\n", " "), &took[0], &sent[0], &took[1], &sent[1], &took[2], &sent[2])
						if err != nil || report.ExitCode != 0 {
							b.Fatalf("%v: %s%s", err, out, errs)
						}
						ratios, times = append(ratios, took[0]/took[1]), append(times, took[0]/1000)
						frames = (sent[0] - sent[1]) / 1000
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(median(ratios), "ratio")
					b.ReportMetric(median(times), "µs")
					b.ReportMetric(frames, "more-frames")
				})
			}
		}
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
