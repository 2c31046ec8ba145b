package bench

import (
	"runtime"
	"testing"

	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
)

// BenchmarkLogP65536Checked simulates one broadcast to 65,536 processes over an interleaved
// binomial tree with synchronised checked correction, L = 2, o = 1. It starts without memory:
// all is allocated each time, and "bytes/process" is the total.
func BenchmarkLogP65536Checked(b *testing.B) {
	benchmarkLogP(b, logp.Case{Procs: 1 << 16, Tree: logp.Binomial, Correction: broadcast.Checked, Synchronised: true}, 2.0)
}

// BenchmarkLogP65536Plain simulates the tree alone.
func BenchmarkLogP65536Plain(b *testing.B) {
	benchmarkLogP(b, logp.Case{Procs: 1 << 16, Tree: logp.Binomial}, 0.9)
}

// BenchmarkLogP65536Acknowledged simulates the tree with acknowledgements.
func BenchmarkLogP65536Acknowledged(b *testing.B) {
	benchmarkLogP(b, logp.Case{Procs: 1 << 16, Tree: logp.Binomial, Correction: broadcast.Acknowledged}, 1.5)
}

// BenchmarkLogP65536Gossip simulates Corrected Gossip with checked correction, which gossips
// for the time that makes it fastest on average.
func BenchmarkLogP65536Gossip(b *testing.B) {
	benchmarkLogP(b, logp.Case{
		Procs: 1 << 16, Tree: logp.Gossip, Gossip: broadcast.Gossip{Until: 37},
		Correction: broadcast.Checked, Synchronised: true,
	}, 1.4)
}

// BenchmarkLogP65536Optimised simulates the tree with overlapped optimised opportunistic
// correction of two neighbours on each side.
func BenchmarkLogP65536Optimised(b *testing.B) {
	benchmarkLogP(b, logp.Case{Procs: 1 << 16, Tree: logp.Binomial, Correction: broadcast.Optimised, Distance: 2}, 1.8)
}

// BenchmarkLogP1048576Checked simulates the checked broadcast to 2^20 processes.
func BenchmarkLogP1048576Checked(b *testing.B) {
	benchmarkLogP(b, logp.Case{Procs: 1 << 20, Tree: logp.Binomial, Correction: broadcast.Checked, Synchronised: true}, 0)
}

// benchmarkLogP simulates a case. authors is how many seconds the paper's simulator took for
// the same case, on another machine; "authors/ours" is the ratio. 0: unknown.
func benchmarkLogP(b *testing.B, c logp.Case, authors float64) {
	c.Latency, c.Overhead = 2, 1
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	messages := 0
	for b.Loop() {
		outcome, err := new(logp.Simulator).Run(&c, nil)
		if err != nil {
			b.Fatal(err)
		}
		if outcome.Unreached > 0 {
			b.Fatalf("%d processes weren't reached", outcome.Unreached)
		}
		messages = outcome.Messages
	}
	runtime.ReadMemStats(&after)
	perRun := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(perRun*1e3, "ms/broadcast")
	b.ReportMetric(float64(messages), "messages")
	b.ReportMetric(perRun*1e9/float64(messages), "ns/message")
	if authors > 0 {
		b.ReportMetric(authors/perRun, "authors/ours")
	}
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/float64(c.Procs), "bytes/process")
}

// BenchmarkLogP65536Warm runs the checked broadcast again and again in one
// simulator: nothing is allocated for processes or messages.
func BenchmarkLogP65536Warm(b *testing.B) {
	c := logp.Case{
		Procs: 1 << 16, Latency: 2, Overhead: 1,
		Tree: logp.Binomial, Correction: broadcast.Checked, Synchronised: true,
	}
	var s logp.Simulator
	if _, err := s.Run(&c, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Run(&c, nil); err != nil {
			b.Fatal(err)
		}
	}
}
