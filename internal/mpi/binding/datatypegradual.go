package binding

import (
	"sync"
	"unsafe"

	types "banyan/internal/mpi/datatype"
	"banyan/internal/runtime/process"
)

// gradual packs or unpacks the data of a large message piece by piece, while the message travels
// (process.Gradual).
type gradual struct {
	data
	done uint64 // bytes
	move func(t *types.Type, msg []byte, buf unsafe.Pointer, count, skip int64) int
}

// gradual tells whether the data is worth it.
func (d *data) gradual() bool { return d.pooled != nil && len(d.bytes) > process.EagerLimit }

// graduals are reused: no message allocates one.
var graduals = sync.Pool{New: func() any { return new(gradual) }}

// Upto implements process.Gradual.
func (g *gradual) Upto(n uint64) {
	if n > g.done {
		g.move(g.typ.Type, g.bytes[g.done:n], g.buf, g.count, int64(g.done))
		g.done = n
	}
}

// end gives it back. Nobody may use it any more.
func (g *gradual) end() {
	*g = gradual{}
	graduals.Put(g)
}
