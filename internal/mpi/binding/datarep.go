package binding

import (
	"errors"
	"fmt"
	"unsafe"

	types "banyan/internal/mpi/datatype"
)

// datarep is a data representation: how elements lie in a file.
type datarep struct {
	name     string
	external bool // external32
	// Of one that the program defines: its functions, 0 if there are none.
	extent, read, write uintptr
	wide                bool // the functions have large counts
	extra               uintptr
}

// The predefined representations. This library's internal one is the native one, so a program reads
// such a file on any x86-64 machine.
var (
	native     = &datarep{name: "native"}
	internal   = &datarep{name: "internal"}
	external32 = &datarep{name: "external32", external: true}
)

// errConversion is about a function of the program that has failed.
var errConversion = errors.New("a conversion function of the program failed")

// datarep is the representation of a name, or nil.
func (p *Process) datarep(name string) *datarep {
	for _, r := range []*datarep{native, internal, external32} {
		if r.name == name {
			return r
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.datareps[name]
}

// RegisterDatarep is MPI_Register_datarep.
func (p *Process) RegisterDatarep(datarep_ *byte, readConversionFn, writeConversionFn, dtypeFileExtentFn, extraState uintptr) Code {
	return p.registerDatarep("MPI_Register_datarep", &datarep{
		name: goString(datarep_), read: readConversionFn, write: writeConversionFn, extent: dtypeFileExtentFn, extra: extraState,
	})
}

// RegisterDatarepC is MPI_Register_datarep_c.
func (p *Process) RegisterDatarepC(datarep_ *byte, readConversionFn, writeConversionFn, dtypeFileExtentFn, extraState uintptr) Code {
	return p.registerDatarep("MPI_Register_datarep_c", &datarep{
		name: goString(datarep_), read: readConversionFn, write: writeConversionFn, extent: dtypeFileExtentFn, extra: extraState, wide: true,
	})
}

func (p *Process) registerDatarep(function string, r *datarep) Code {
	switch {
	case !p.live():
		return p.outOfTime(function)
	case r.name == "" || len(r.name) >= MaxDatarepString:
		return p.failFileless(function, ErrArg, "the name %.40q has %d bytes, and must have 1 to %d", r.name, len(r.name), MaxDatarepString-1)
	case p.datarep(r.name) != nil:
		return p.failFileless(function, ErrDupDatarep, "there is a data representation %s already", r.name)
	case r.extent == 0:
		return p.failFileless(function, ErrArg, "the function for extents is NULL")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.datareps == nil {
		p.datareps = map[string]*datarep{}
	}
	p.datareps[r.name] = r
	return Success
}

// inFile is a type as it lies in a file of the representation.
func (p *Process) inFile(r *datarep, t *types.Type) (*types.Type, error) {
	switch {
	case r.external:
		return t.InExternal()
	case r.extent == 0:
		return t, nil
	}
	return t.Represented(func(b *types.Type) (*types.Type, error) {
		h := Datatype(b.Handle())
		if h == 0 { // a Fortran precision, say: the program knows only types with names
			return b, nil
		}
		size, code := p.host.FileExtent(r.extent, h, r.extra)
		if code != Success || size < 0 {
			return nil, fmt.Errorf("the extent of %s in %s: %w with %d", b.Name(), r.name, errConversion, code)
		}
		return types.Opaque(size)
	})
}

// bytes is how many bytes of a file count instances of a type have.
func (p *Process) fileBytes(r *datarep, t *types.Type, count int64) (n int64, ok bool, err error) {
	if r.external {
		n, ok = t.ExternalBytes(count)
		return n, ok, nil
	}
	in, err := p.inFile(r, t)
	if err != nil {
		return 0, false, err
	}
	n, ok = in.Bytes(count)
	return n, ok, nil
}

// converts tells whether the bytes of a file are others than those of a message.
func (r *datarep) converts() bool { return r.external || r.read != 0 || r.write != 0 }

// toFile converts a program's data to that of a file.
func (p *Process) toFile(r *datarep, d *data, to []byte) error {
	switch {
	case len(to) == 0:
		return nil
	case r.external:
		_, err := d.typ.PackExternal(to, d.buf, d.count)
		return err
	case r.write == 0:
		d.typ.Pack(to, d.buf, d.count, 0)
		return nil
	}
	return p.convert(r, r.write, d.typ.handle, d.buf, d.count, to)
}

// convert calls a conversion function of the program for count whole instances.
func (p *Process) convert(r *datarep, fn uintptr, typ Datatype, buf unsafe.Pointer, count int64, in []byte) error {
	if code := p.host.ConvertData(fn, r.wide, buf, typ, count, unsafe.Pointer(&in[0]), 0, r.extra); code != Success {
		return fmt.Errorf("%s: %w with %d", r.name, errConversion, code)
	}
	return nil
}

// fromFile converts the first n bytes of a file's data to a program's, and returns how many bytes
// of a message they are. Elements that aren't whole are left out, and of the program's own
// representations, instances.
func (p *Process) fromFile(r *datarep, d *data, from []byte, n int64) (int64, error) {
	all := int64(len(from))
	if n == 0 || all == 0 {
		return 0, nil
	}
	each := all / d.count // of an instance, in the file
	size := d.typ.Size()
	whole := n / each
	switch {
	case r.external:
		if whole > 0 {
			if _, err := d.typ.UnpackExternal(from[:whole*each], d.buf, whole); err != nil {
				return 0, err
			}
		}
		rest := d.typ.NativeBytes(n % each)
		if rest == 0 {
			return whole * size, nil
		}
		// The elements that are there go over those of the program's last instance, as it is.
		_, extent := d.typ.Extent()
		at := unsafe.Add(d.buf, whole*extent)
		part := make([]byte, each)
		if _, err := d.typ.PackExternal(part, at, 1); err != nil {
			return 0, err
		}
		copy(part, from[whole*each:n])
		converted := make([]byte, size)
		if err := externalToPacked(d.typ.Type, part, converted); err != nil {
			return 0, err
		}
		d.typ.Unpack(converted[:rest], at, 1, 0)
		return whole*size + rest, nil
	case r.read == 0:
		d.typ.Unpack(from[:n], d.buf, d.count, 0)
		return n, nil
	case whole == 0:
		return 0, nil
	}
	return whole * size, p.convert(r, r.read, d.typ.handle, d.buf, whole, from)
}

// externalToPacked converts one instance to its packed form, by way of memory that is laid out as
// the type says.
func externalToPacked(t *types.Type, external, packed []byte) error {
	first, length := t.Span(1)
	memory := make([]byte, length+1)
	at := unsafe.Add(unsafe.Pointer(&memory[0]), -first)
	if _, err := t.UnpackExternal(external, at, 1); err != nil {
		return err
	}
	t.Pack(packed, at, 1, 0)
	return nil
}
