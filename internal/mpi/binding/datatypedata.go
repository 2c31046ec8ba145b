package binding

import (
	"math/bits"
	"sync"
	"unsafe"
)

// data is a buffer of the program and its message. A contiguous buffer is itself the message.
// The data of another is packed into, or unpacked from, a buffer from a pool.
type data struct {
	bytes []byte // the message

	pooled *[]byte // holds bytes, if that isn't the program's memory
	typ    *datatype
	buf    unsafe.Pointer
	count  int64

	unpacked int64 // bytes of the message that are in the program's buffer already
}

// maxData is more than the address space of a process holds.
const maxData = 1 << 47

// outgoing is data to send, packed if necessary. The caller releases it.
func (p *Process) outgoing(c *communicator, function string, buf unsafe.Pointer, count int64, datatype Datatype) (data, Code) {
	d, code := p.incoming(c, function, buf, count, datatype)
	d.pack()
	return d, code
}

// incoming is data to receive into. When the message has arrived, the caller unpacks it, then
// releases it.
func (p *Process) incoming(c *communicator, function string, buf unsafe.Pointer, count int64, datatype Datatype) (data, Code) {
	o, size, code := p.usable(c, function, buf, count, datatype)
	d := data{typ: o, buf: buf, count: count}
	if size == 0 {
		return d, code
	}
	if first, contiguous := o.Contiguous(count); contiguous {
		d.bytes = unsafe.Slice((*byte)(unsafe.Add(buf, first)), size)
	} else {
		d.pooled = scratch.take(size)
		d.bytes = (*d.pooled)[:size]
	}
	return d, Success
}

// usable checks a buffer of the program. It returns its type and the size of its data, which is
// also 0 if the code is an error.
func (p *Process) usable(c *communicator, function string, buf unsafe.Pointer, count int64, datatype Datatype) (o *datatype, size int64, code Code) {
	o = p.datatype(datatype)
	if o == nil || count < 0 || !o.committed.Load() {
		return o, 0, p.badData(c, function, count, datatype, o)
	}
	size, ok := o.Bytes(count)
	if !ok || size > maxData {
		return o, 0, p.fail(c, function, ErrCount, "%d elements of %s are more than can be addressed", count, o.title())
	}
	if size == 0 {
		return o, 0, Success
	}
	if first, _ := o.Span(count); special(unsafe.Add(buf, first)) {
		return o, 0, p.badAddress(c, function, buf)
	}
	return o, size, Success
}

// special says that an address can't hold data: it is in the first page, or the entry points
// have moved it from there.
func special(at unsafe.Pointer) bool { return uintptr(at)+4096 < 2*4096 }

// badData is the error of an unusable count or datatype.
func (p *Process) badData(c *communicator, function string, count int64, datatype Datatype, o *datatype) Code {
	switch {
	case o == nil:
		return p.noType(c, function, datatype)
	case count < 0:
		return p.fail(c, function, ErrCount, "the count is %d", count)
	}
	return p.fail(c, function, ErrType, "%s has not been committed", o.title())
}

func (p *Process) badAddress(c *communicator, function string, buf unsafe.Pointer) Code {
	if isInPlace(buf) {
		return p.fail(c, function, ErrBuffer, "the buffer is MPI_IN_PLACE, which has no meaning here")
	}
	return p.fail(c, function, ErrBuffer, "the buffer is at %#x, where there can be no data", uintptr(buf))
}

// unpack copies the first n bytes, which have arrived, to the program's buffer.
func (d *data) unpack(n int64) {
	if d.pooled != nil && n > d.unpacked {
		d.typ.Unpack(d.bytes[d.unpacked:n], d.buf, d.count, d.unpacked)
	}
}

// release gives the message's buffer back, if it has one. The data must not be used afterwards.
func (d *data) release() {
	if d.pooled != nil {
		scratch.give(d.pooled)
		d.pooled, d.bytes = nil, nil
	}
}

// buffers is a pool of buffers by size: powers of two, at least minBuffer.
type buffers struct{ pools [64]sync.Pool }

const minBuffer = 256

// scratch are buffers for packed messages. All processes of a test share them.
var scratch buffers

// take returns a buffer of n bytes or more, aligned for every type.
func (b *buffers) take(n int64) *[]byte {
	class := bits.Len64(uint64(max(n, minBuffer)) - 1)
	if s, ok := b.pools[class].Get().(*[]byte); ok {
		return s
	}
	s := make([]byte, 1<<class)
	return &s
}

// give takes a buffer back.
func (b *buffers) give(s *[]byte) { b.pools[bits.Len(uint(len(*s)))-1].Put(s) }
