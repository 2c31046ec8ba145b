package binding

import (
	"testing"
	"unsafe"
)

// TestGradual: large messages of types with gaps arrive whole, whichever side has the gaps, and if
// the receiver expects more or less. What isn't data stays as it was.
func TestGradual(t *testing.T) {
	const n = 300_000 // ints
	returning(t, 2, func(t *testing.T, p *Process) {
		var gapped, blocks Datatype
		ok(t, "TypeVector", p.TypeVector(n, 1, 2, TypeInt, &gapped))
		ok(t, "TypeCommit", p.TypeCommit(&gapped))
		ok(t, "TypeCreateResized", p.TypeCreateResized(TypeInt, 0, 12, &blocks))
		ok(t, "TypeCommit", p.TypeCommit(&blocks))
		layouts := []struct {
			count, per int64 // for n ints
			datatype   Datatype
			step       int
		}{{n, 1, TypeInt, 1}, {1, n, gapped, 2}, {n, 1, blocks, 3}}
		for i, from := range layouts {
			for k, to := range layouts {
				for _, expected := range []int64{n, n - 20_001, n + 5000} {
					if to.per == n && expected != n {
						continue
					}
					tag := int32(i*10 + k)
					if p.world.Load().comm.Rank() == 0 {
						data := make([]int32, 3*n)
						for j := range n {
							data[j*from.step] = int32(j*7 + i)
						}
						ok(t, "Send", p.Send(ints(data), from.count, from.datatype, 1, tag, CommWorld))
						continue
					}
					data := make([]int32, 3*(n+5000)+1)
					var s Status
					code := p.Recv(unsafe.Pointer(&data[0]), expected/to.per, to.datatype, 0, tag, CommWorld, &s)
					got := min(expected, n)
					if expected < n {
						wantCode(t, "Recv", code, ErrTruncate)
					} else {
						ok(t, "Recv", code)
						wantStatus(t, "Recv", &s, 0, tag, 4*n)
					}
					for j := range data {
						want := int32(0)
						if at := j / to.step; j%to.step == 0 && int64(at) < got {
							want = int32(at*7 + i)
						}
						if data[j] != want {
							t.Fatalf("from %d to %d, expecting %d: int %d is %d, want %d", i, k, expected, j, data[j], want)
						}
					}
				}
			}
		}
	})
}
