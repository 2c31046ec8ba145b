package inproc

import (
	"runtime"
	"testing"

	"banyan/internal/runtime/transport/transporttest"
)

func BenchmarkInproc(b *testing.B) {
	// The engine does the same.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	net := NewNetwork(2)
	defer net.Endpoint(0).Close()
	defer net.Endpoint(1).Close()
	transporttest.Bench(b, net.Endpoint(0), net.Endpoint(1))
}
