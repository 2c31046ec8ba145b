package binding

import (
	"errors"
	"unsafe"

	types "banyan/internal/mpi/datatype"
)

// A packed buffer is the data's bytes without headers. So a program may send it as MPI_PACKED
// and receive it as the type itself, and the other way round.

// room is n bytes of a packed buffer from a position on. It checks that the buffer has them.
func (p *Process) room(c *communicator, function string, buffer unsafe.Pointer, size, position, n int64) ([]byte, Code) {
	switch {
	case size < 0:
		return nil, p.fail(c, function, ErrArg, "the size of the packed buffer is %d", size)
	case position < 0 || position > size:
		return nil, p.fail(c, function, ErrArg, "the position is %d, and the packed buffer has %d bytes", position, size)
	case n > size-position:
		return nil, p.fail(c, function, ErrTruncate, "the data has %d bytes, and the packed buffer %d, from position %d on", n, size-position, position)
	case n == 0:
		return nil, Success
	case buffer == nil:
		return nil, p.fail(c, function, ErrBuffer, "the packed buffer is null")
	}
	return unsafe.Slice((*byte)(unsafe.Add(buffer, position)), n), Success
}

// Pack is MPI_Pack.
func (p *Process) Pack(inbuf unsafe.Pointer, incount int64, datatype Datatype, outbuf unsafe.Pointer, outsize int64, position CountOut, comm Comm) Code {
	const function = "MPI_Pack"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	o, size, code := p.usable(c, function, inbuf, incount, datatype)
	if code != Success {
		return code
	}
	at := position.Get()
	to, code := p.room(c, function, outbuf, outsize, at, size)
	if code != Success {
		return code
	}
	o.Pack(to, inbuf, incount, 0)
	position.Set(at + size)
	return Success
}

// Unpack is MPI_Unpack.
func (p *Process) Unpack(inbuf unsafe.Pointer, insize int64, position CountOut, outbuf unsafe.Pointer, outcount int64, datatype Datatype, comm Comm) Code {
	const function = "MPI_Unpack"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	o, size, code := p.usable(c, function, outbuf, outcount, datatype)
	if code != Success {
		return code
	}
	at := position.Get()
	from, code := p.room(c, function, inbuf, insize, at, size)
	if code != Success {
		return code
	}
	o.Unpack(from, outbuf, outcount, 0)
	position.Set(at + size)
	return Success
}

// PackSize is MPI_Pack_size.
func (p *Process) PackSize(incount int64, datatype Datatype, comm Comm, size CountOut) Code {
	const function = "MPI_Pack_size"
	c := p.communicator(comm)
	if c == nil {
		return p.noComm(function, comm)
	}
	o := p.datatype(datatype)
	if o == nil || incount < 0 {
		return p.badData(c, function, incount, datatype, o)
	}
	n, ok := o.Bytes(incount)
	if !ok {
		n = 1 << 62 // fits nowhere
	}
	if !size.Set(n) || !ok {
		return p.fail(c, function, ErrValueTooLarge, "%d elements of %s have more bytes than fit into the result", incount, o.title())
	}
	return Success
}

// external32 checks the name of a data representation.
func (p *Process) external32(function string, datarep *byte) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	if name := goString(datarep); name != "external32" {
		return p.fail(nil, function, ErrUnsupportedDatarep, "the data representation is %q; only external32 is known", name)
	}
	return Success
}

// PackExternal is MPI_Pack_external.
func (p *Process) PackExternal(datarep *byte, inbuf unsafe.Pointer, incount int64, datatype Datatype, outbuf unsafe.Pointer, outsize int64, position *int64) Code {
	return p.external("MPI_Pack_external", (*types.Type).PackExternal, datarep, inbuf, incount, datatype, outbuf, outsize, position)
}

// UnpackExternal is MPI_Unpack_external.
func (p *Process) UnpackExternal(datarep *byte, inbuf unsafe.Pointer, insize int64, position *int64, outbuf unsafe.Pointer, outcount int64, datatype Datatype) Code {
	return p.external("MPI_Unpack_external", (*types.Type).UnpackExternal, datarep, outbuf, outcount, datatype, inbuf, insize, position)
}

func (p *Process) external(function string, convert func(t *types.Type, packed []byte, buf unsafe.Pointer, count int64) (int, error),
	datarep *byte, buf unsafe.Pointer, count int64, datatype Datatype, packed unsafe.Pointer, size int64, position *int64) Code {
	if code := p.external32(function, datarep); code != Success {
		return code
	}
	o, _, code := p.usable(nil, function, buf, count, datatype)
	if code != Success {
		return code
	}
	rest, code := p.room(nil, function, packed, size, *position, max(0, size-*position))
	if code != Success {
		return code
	}
	n, err := convert(o.Type, rest, buf, count)
	if errors.Is(err, types.ErrShort) {
		return p.fail(nil, function, ErrTruncate, "the data has more bytes than the packed buffer, which has %d from position %d on", len(rest), *position)
	}
	*position += int64(n)
	return Success
}

// PackExternalSize is MPI_Pack_external_size.
func (p *Process) PackExternalSize(datarep *byte, incount int64, datatype Datatype, size *int64) Code {
	const function = "MPI_Pack_external_size"
	if code := p.external32(function, datarep); code != Success {
		return code
	}
	o := p.datatype(datatype)
	if o == nil || incount < 0 {
		return p.badData(nil, function, incount, datatype, o)
	}
	n, ok := o.ExternalBytes(incount)
	if !ok {
		return p.fail(nil, function, ErrValueTooLarge, "%d elements of %s are too large", incount, o.title())
	}
	*size = n
	return Success
}
