package lane

import (
	"unsafe"

	"banyan/internal/runtime/transport"
)

// Run is a run of bytes of a type's instance: where it is from the program's address.
type Run struct{ Disp, Size int64 }

// Type is a type of the program in C's table: what lies where in an instance, in the order of
// packing.
type Type struct {
	handle uint64 // 0: none
	size   int64  // bytes of data in an instance
	extent int64  // from one instance to the next
	count  int64  // runs of an instance
	// If all runs have each bytes and lie stride apart, from first on; otherwise each is 0.
	first, stride, each int64
	runs                unsafe.Pointer // count of Run
}

const (
	types = 64
	// MaxRuns bounds the runs of a type that C knows. Those of larger types mean less beside the
	// way into Go.
	MaxRuns = 512
	// MaxSize bounds the size of such a type: C sends no larger message.
	MaxSize = transport.DirectSize
)

// typePlace is the only place where the table has a handle.
func (m *Memory) typePlace(handle uint64) *Type { return &m.types[(handle^handle>>4)%types] }

// SetType makes a type of the program known to C, unless its place in the table is taken: its
// instances' extent, and their runs, at least one. runs must stay as they are until DropType.
func (m *Memory) SetType(handle uint64, extent int64, runs []Run) {
	t := m.typePlace(handle)
	if t.handle != 0 || len(runs) == 0 {
		return
	}
	*t = Type{handle: handle, extent: extent, count: int64(len(runs)), runs: unsafe.Pointer(unsafe.SliceData(runs))}
	t.first, t.each = runs[0].Disp, runs[0].Size
	if len(runs) > 1 {
		t.stride = runs[1].Disp - runs[0].Disp
	}
	regular := true
	for i, r := range runs {
		t.size += r.Size
		if r.Size != t.each || r.Disp != runs[0].Disp+int64(i)*t.stride {
			regular = false
		}
	}
	if !regular {
		t.each = 0
	}
}

// DropType takes a type out of the table.
func (m *Memory) DropType(handle uint64) {
	if t := m.typePlace(handle); t.handle == handle {
		*t = Type{}
	}
}
