package comm_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
)

// wayKinds are the kinds of collectives of comm.Ways, in their order.
func wayKinds() (kinds []string) {
	for _, w := range comm.Ways() {
		if len(kinds) == 0 || kinds[len(kinds)-1] != w.Kind {
			kinds = append(kinds, w.Kind)
		}
	}
	return kinds
}

// either is an operator that costs about what a sum does.
func either(left, right []byte) {
	for i := 0; i+8 <= len(left); i += 8 {
		binary.LittleEndian.PutUint64(left[i:], binary.LittleEndian.Uint64(left[i:])^binary.LittleEndian.Uint64(right[i:]))
	}
}

// waysProgram times all ways to do a kind of collective (arguments[0]) with parts of arguments[1]
// bytes, in turn, as loops with a barrier inside. Rank 0 prints the nanoseconds of one, with its
// barrier: medians of arguments[2] rounds.
func waysProgram(w *comm.Comm, arguments []int) error {
	kind, m, rounds := wayKinds()[arguments[0]], arguments[1], arguments[2]
	send, recv := make([]byte, w.Size()*m), make([]byte, w.Size()*m)
	op := comm.Op{Combiner: comm.Func(either), Size: 8}
	turns := min(max((2<<20)/(w.Size()*m), 3), 200)
	took := map[string][]float64{}
	for round := range rounds + 1 {
		for _, way := range comm.Ways() {
			if way.Kind != kind || !way.Fits(w) {
				continue
			}
			start := time.Now()
			for range turns {
				if err := way.Plan(w, send, recv, m, op).Run(); err != nil {
					return fmt.Errorf("%s: %w", way.Name, err)
				}
				if err := w.Barrier().Run(); err != nil {
					return err
				}
			}
			if round > 0 { // round 0 warms up
				took[way.Name] = append(took[way.Name], float64(time.Since(start).Nanoseconds())/float64(turns))
			}
		}
	}
	for _, way := range comm.Ways() {
		if x := took[way.Name]; way.Kind == kind && w.Rank() == 0 && len(x) > 0 {
			fmt.Println(way.Name, median(x))
		}
	}
	return nil
}

// BenchmarkWays compares the algorithms of each collective in processes that share memory: the
// figures are µs of one operation and a barrier, medians. "rule" is what the communicator chooses.
// Where an algorithm is clearly faster than the rule, the rule's border is at the wrong size:
//
//	go test -run '^$' -bench 'Ways/allreduce/4/' -benchtime 1x ./internal/mpi/comm
func BenchmarkWays(b *testing.B) {
	for i, kind := range wayKinds() {
		for _, n := range []int{2, 3, 4, 8, 16} {
			for _, m := range []int{8, 256, 1 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20} {
				if kind == "barrier" && m > 8 || n*m > 4<<20 {
					continue
				}
				b.Run(fmt.Sprintf("%s/%d/%d", kind, n, m), func(b *testing.B) {
					for range b.N {
						out, errs, report := processes(b, n, false, launcher.TransportSHM, "ways", i, m, 11)
						if report.ExitCode != 0 {
							b.Fatalf("%.1000s", errs)
						}
						for line := range strings.Lines(out) {
							var name string
							var ns float64
							if _, err := fmt.Sscan(line, &name, &ns); err != nil {
								b.Fatal(err)
							}
							b.ReportMetric(ns/1000, "µs-"+name)
						}
					}
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}

// All ways that are compared work, both at a power of two of members and at another number.
func TestWays(t *testing.T) {
	for _, n := range []int{3, 4} {
		if n == 4 && testing.Short() {
			continue
		}
		for i, kind := range wayKinds() {
			out, errs, report := processes(t, n, false, launcher.TransportSHM, "ways", i, 64, 1)
			if report.ExitCode != 0 || strings.Count(out, "\n") < 3 {
				t.Errorf("%s among %d: %s%.1000s", kind, n, out, errs)
			}
		}
	}
}
