package mesh

import (
	"fmt"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/wire"
)

// BenchmarkSealing measures what a message over a TCP connection of this host costs one core, both
// ends together, in clear and sealed. One thread is both ends, so that nobody spins. The two kinds
// take turns in rounds of a few milliseconds, and the best round of each counts: so the ratio holds
// on a machine that others use, too.
func BenchmarkSealing(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var courses [2]*course
			for i, policy := range []seal.Policy{seal.None, seal.TCP} {
				courses[i] = newCourse(b, policy, size)
			}
			messages := max(1, 1<<20/(size+4096))
			best := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, c := range courses {
					begin := time.Now()
					for range messages {
						c.message()
					}
					best[i] = min(best[i], time.Since(begin)/time.Duration(messages))
				}
			}
			b.ReportMetric(float64(best[0]), "clear-ns")
			b.ReportMetric(float64(best[1]), "sealed-ns")
			b.ReportMetric(float64(best[1]-best[0]), "more-ns")
			b.ReportMetric(float64(best[1])/float64(best[0]), "ratio")
		})
	}
}

// course is a connection between two Procs of one thread.
type course struct {
	ends    []*Transport
	sink    *intake
	header  wire.Header
	payload []byte
}

// intake is a sink that counts, and takes large payloads.
type intake struct {
	tally
	buffer []byte
}

func (s *intake) Dest(_ proto.Proc, h *wire.Header) []byte { return s.buffer[:h.Length] }

func newCourse(b *testing.B, policy seal.Policy, size int) *course {
	c := &course{
		ends:    newTransports(b, 2, func(c *Config) { c.Media, c.Sealing = Sockets, policy }),
		sink:    &intake{buffer: make([]byte, size)},
		header:  wire.Header{Kind: wire.KindEager, Total: uint64(size)},
		payload: make([]byte, size),
	}
	c.message() // connects
	return c
}

// message sends a message and waits until it has come.
func (c *course) message() {
	want := c.sink.tally + 1
	c.ends[0].Send(1, &c.header, c.payload, 1)
	for c.sink.tally < want || c.ends[0].Queued(1) > 0 {
		c.ends[1].Poll(c.sink)
		if c.sink.tally < want {
			c.ends[0].Poll(c.sink)
		}
	}
}
