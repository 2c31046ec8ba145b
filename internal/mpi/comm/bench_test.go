package comm_test

import (
	"fmt"
	"testing"

	"banyan/internal/job/join"
	"banyan/internal/mpi/comm"
)

// BenchmarkAlone is the cost of a collective at one rank: a plan is made and carried out, without a
// message.
func BenchmarkAlone(b *testing.B) {
	members, err := join.Local(join.LocalConfig{Ranks: 1, Replicas: 1})
	if err != nil {
		b.Fatal(err)
	}
	w, err := comm.World(members[0].Engine)
	if err != nil {
		b.Fatal(err)
	}
	send, recv := make([]byte, 8), make([]byte, 8)
	op := comm.Op{Combiner: comm.Func(affine), Size: 2}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Allreduce(send, recv, op).Run(); err != nil {
			b.Fatal(err)
		}
	}
	members[0].Leave()
}

// BenchmarkCollectives is 8 bytes among ranks that are goroutines.
func BenchmarkCollectives(b *testing.B) {
	for name, plan := range map[string]func(w *comm.Comm, send, recv []byte) *comm.Plan{
		"barrier": func(w *comm.Comm, _, _ []byte) *comm.Plan { return w.Barrier() },
		"allreduce": func(w *comm.Comm, send, recv []byte) *comm.Plan {
			return w.Allreduce(send, recv, comm.Op{Combiner: comm.Func(affine), Size: 2})
		},
	} {
		for _, n := range []int{2, 4} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				members, err := join.Local(join.LocalConfig{Ranks: n, Replicas: 1})
				if err != nil {
					b.Fatal(err)
				}
				end := make(chan error, n)
				for _, m := range members {
					go func() {
						w, err := comm.World(m.Engine)
						send, recv := make([]byte, 8), make([]byte, 8)
						for i := 0; i < b.N && err == nil; i++ {
							err = plan(w, send, recv).Run()
						}
						if err == nil {
							err = m.Leave()
						}
						end <- err
					}()
				}
				for range members {
					if err := <-end; err != nil {
						b.Error(err)
					}
				}
			})
		}
	}
}
