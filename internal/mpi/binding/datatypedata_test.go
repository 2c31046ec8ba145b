package binding

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"
)

// TestData checks that a message is the program's memory where possible, and otherwise a buffer
// from the pool, which is given back.
func TestData(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var column Datatype
		ok(t, "TypeVector", p.TypeVector(2, 1, 2, TypeInt, &column))
		ok(t, "TypeCommit", p.TypeCommit(&column))
		memory := []int32{1, 2, 3, 4}
		buf := unsafe.Pointer(&memory[0])
		d, code := p.outgoing(nil, "test", buf, 4, TypeInt)
		if code != Success || unsafe.Pointer(&d.bytes[0]) != buf || len(d.bytes) != 16 {
			t.Error("contiguous data is copied")
		}
		d, code = p.outgoing(nil, "test", buf, 1, column)
		if code != Success || !bytes.Equal(d.bytes, []byte{1, 0, 0, 0, 3, 0, 0, 0}) {
			t.Errorf("a column is %v", d.bytes)
		}
		d.release()
		d, code = p.incoming(nil, "test", buf, 1, column)
		if code != Success || len(d.bytes) != 8 {
			t.Errorf("a column has %d bytes", len(d.bytes))
		}
		copy(d.bytes, []byte{9, 0, 0, 0})
		d.unpack(4)
		d.release()
		if !slices.Equal(memory, []int32{9, 2, 3, 4}) {
			t.Errorf("after half a column: %v", memory)
		}
		if d, code = p.outgoing(nil, "test", nil, 0, TypeInt); code != Success || len(d.bytes) != 0 {
			t.Error("no data at no address is an error")
		}
		if n := testing.AllocsPerRun(100, func() {
			d, _ := p.outgoing(nil, "test", buf, 4, TypeInt)
			d.release()
			d, _ = p.outgoing(nil, "test", buf, 1, column)
			d.release()
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
