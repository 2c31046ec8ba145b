package tcp

import (
	"fmt"
	"runtime"
	"testing"

	"banyan/internal/transport/transporttest"
)

func BenchmarkTCP(b *testing.B) {
	// As the runtime does (DESIGN, decision 1).
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	ends := newTransports(b, 2, nil)
	transporttest.Bench(b, ends[0], ends[1])
}

// BenchmarkTwoProcesses is ping-pong between two processes; an op is one way.
func BenchmarkTwoProcesses(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	tr, _, _ := startChild(b, roleEcho)
	meet(tr)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, size := range []int{8, 1 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("pingpong/%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			transporttest.PingPong(tr, 1, b.N/2+1, size, true)
		})
	}
}

// meet takes in the child's greeting.
func meet(tr *Transport) {
	w := &witness{}
	for w.frames == 0 {
		tr.Poll(w)
	}
}
