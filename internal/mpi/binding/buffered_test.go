package binding

import (
	"slices"
	"testing"
	"unsafe"
)

// Buffered sends end although no rank receives, up to the size of the buffer.
func TestBufferedSends(t *testing.T) {
	const n = 50_000
	returning(t, 2, func(t *testing.T, p *Process) {
		data := numbers(n, 3)
		if rankOf(p) == 1 {
			var x int32
			ok(t, "Recv", p.Recv(unsafe.Pointer(&x), 1, TypeInt, 0, 2, CommWorld, nil))
			for range 3 {
				got := make([]int32, n)
				ok(t, "Recv", p.Recv(ints(got), n, TypeInt, 0, 1, CommWorld, nil))
				if !slices.Equal(got, numbers(n, 3)) {
					t.Error("the message is spoiled")
				}
			}
			return
		}
		const each = 4*n + BsendOverhead
		buffer := make([]byte, 3*each+100)
		ok(t, "BufferAttach", p.BufferAttach(unsafe.Pointer(&buffer[0]), int64(len(buffer))))
		wantCode(t, "a second attach", p.BufferAttach(unsafe.Pointer(&buffer[0]), 1), ErrBuffer)
		for range 3 {
			ok(t, "Bsend", p.Bsend(ints(data), n, TypeInt, 1, 1, CommWorld))
			clear(data) // the message must not depend on it
			copy(data, numbers(n, 3))
		}
		wantCode(t, "a Bsend too many", p.Bsend(ints(data), n, TypeInt, 1, 1, CommWorld), ErrBuffer)
		var flush Request
		var flag int32
		ok(t, "BufferIflush", p.BufferIflush(&flush))
		if ok(t, "Test", p.Test(&flush, &flag, nil)); flag != 0 {
			t.Error("the buffer is flushed although no rank has received")
		}
		ok(t, "Send", p.Send(ints(data), 1, TypeInt, 1, 2, CommWorld))
		ok(t, "Wait", p.Wait(&flush, nil))
		ok(t, "BufferFlush", p.BufferFlush())
		var at unsafe.Pointer
		var size int32
		ok(t, "BufferDetach", p.BufferDetach(unsafe.Pointer(&at), CountOut{P: unsafe.Pointer(&size)}))
		if at != unsafe.Pointer(&buffer[0]) || int(size) != len(buffer) {
			t.Errorf("detach gives %p and %d bytes back", at, size)
		}
		wantCode(t, "a second detach", p.BufferDetach(unsafe.Pointer(&at), CountOut{P: unsafe.Pointer(&size)}), ErrBuffer)
	})
}
