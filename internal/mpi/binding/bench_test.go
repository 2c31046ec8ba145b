package binding

import (
	"testing"

	"banyan/internal/job/join"
	"banyan/internal/runtime/engine"
)

// BenchmarkPath measures a message's processor time from the call of MPI_Send to the return of
// MPI_Recv, without the step from C to Go. An op is one message of 8 bytes with both its ends,
// which share one goroutine.
func BenchmarkPath(b *testing.B) {
	members, err := join.Local(join.LocalConfig{Ranks: 2, Replicas: 1})
	if err != nil {
		b.Fatal(err)
	}
	var ps []*Process
	for _, m := range members {
		p := New(Host{Join: func(func(engine.Event)) (Job, error) { return &testMember{Member: m}, nil }, Callbacks: testCallbacks{}})
		if code := p.Init(nil, nil); code != Success {
			b.Fatal(code)
		}
		ps = append(ps, p)
		defer m.Die()
	}
	out, in := numbers(2, 1), make([]int32, 2)
	b.Run("blocking", func(b *testing.B) {
		b.ReportAllocs()
		for i := int32(0); b.Loop(); i++ {
			from, to := i&1, 1-i&1
			if ps[from].Send(ints(out), 2, TypeInt, to, 1, CommWorld) != Success ||
				ps[to].Recv(ints(in), 2, TypeInt, from, 1, CommWorld, nil) != Success {
				b.Fatal("a message fails")
			}
		}
	})
	b.Run("nonblocking", func(b *testing.B) {
		b.ReportAllocs()
		var r, s Request
		for i := int32(0); b.Loop(); i++ {
			from, to := i&1, 1-i&1
			if ps[to].Irecv(ints(in), 2, TypeInt, from, 1, CommWorld, &r) != Success ||
				ps[from].Isend(ints(out), 2, TypeInt, to, 1, CommWorld, &s) != Success ||
				ps[from].Wait(&s, nil) != Success || ps[to].Wait(&r, nil) != Success {
				b.Fatal("a message fails")
			}
		}
	})
}
