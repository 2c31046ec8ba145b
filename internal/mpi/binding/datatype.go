package binding

import (
	"fmt"
	"sync/atomic"

	types "banyan/internal/mpi/datatype"
	"banyan/internal/runtime/lane"
)

// datatype is the object of a Datatype. It lives as long as an operation uses it: MPI_Type_free
// ends only the handle.
type datatype struct {
	*types.Type
	handle     Datatype
	committed  atomic.Bool
	name       atomic.Pointer[string] // nil until the program sets it
	attributes attributes
	runs       []lane.Run // C may look at them while the handle is valid
}

// predefinedTypes is how many handles the ABI has for datatypes, from
// DatatypeNull on.
const predefinedTypes = 256

// datatypes are the types of a process. The predefined ones are per process too, because a
// program may name them and give them attributes.
type datatypes struct {
	predefined  [predefinedTypes]*datatype
	made        table[datatype]
	byPrecision map[precision]Datatype // guarded by Process.mu
}

func (d *datatypes) init() {
	d.made.kind = kindDatatype
	for _, t := range types.All() {
		o := &datatype{Type: t, handle: Datatype(t.Handle())}
		o.committed.Store(true)
		d.predefined[o.handle-DatatypeNull] = o
	}
}

// datatype is the object of a handle, nil if it has none: see noType.
func (p *Process) datatype(h Datatype) *datatype {
	if i := h - DatatypeNull; i < predefinedTypes {
		return p.datatypes.predefined[i]
	}
	return p.datatypes.made.get(uintptr(h))
}

// noType is the error of a handle that names no datatype.
func (p *Process) noType(c *communicator, function string, h Datatype) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	if h == DatatypeNull {
		return p.fail(c, function, ErrType, "the datatype is MPI_DATATYPE_NULL")
	}
	if uintptr(h)&(1<<kindBits-1) == kindDatatype && kindName(uintptr(h)) != "" {
		return p.fail(c, function, ErrType, "the datatype %#x has been freed, or never was one", uintptr(h))
	}
	return p.noHandle(c, function, ErrType, "datatype", uintptr(h))
}

// adoptType gives a new type a handle. The code is an error if there are too many.
func (p *Process) adoptType(function string, o *datatype, to *Datatype) Code {
	o.handle = Datatype(p.datatypes.made.add(o))
	if o.handle == 0 {
		return p.fail(nil, function, ErrNoMem, "there are too many datatypes")
	}
	*to = o.handle
	return Success
}

// title names a datatype for messages.
func (o *datatype) title() string {
	if n := o.label(); n != "" {
		return n
	}
	return fmt.Sprintf("datatype %#x", uintptr(o.handle))
}

// label is the name that MPI_Type_get_name returns.
func (o *datatype) label() string {
	if n := o.name.Load(); n != nil {
		return *n
	}
	return o.Name()
}

// predefined says that the program may not free the type.
func (o *datatype) predefined() bool {
	switch o.Made().Combiner {
	case types.CombinerNamed, types.CombinerValueIndex, types.CombinerF90Real, types.CombinerF90Complex, types.CombinerF90Integer:
		return true
	}
	return false
}

// TypeCommit is MPI_Type_commit.
func (p *Process) TypeCommit(datatype *Datatype) Code {
	o := p.datatype(*datatype)
	if o == nil || !p.live() {
		return p.noType(nil, "MPI_Type_commit", *datatype)
	}
	if !o.committed.Swap(true) {
		p.tellLane(o)
	}
	return Success
}

// TypeFree is MPI_Type_free. Operations that use the type go on.
func (p *Process) TypeFree(datatype *Datatype) Code {
	const function = "MPI_Type_free"
	o := p.datatype(*datatype)
	switch {
	case o == nil || !p.live():
		return p.noType(nil, function, *datatype)
	case o.predefined():
		return p.fail(nil, function, ErrType, "%s is predefined", o.title())
	}
	if code := p.deleteAttributes(&o.attributes, uintptr(*datatype)); code != Success {
		return p.callbackFailed(nil, function, "delete", code)
	}
	p.dropFromLane(o)
	p.datatypes.made.remove(uintptr(*datatype))
	*datatype = DatatypeNull
	return Success
}

// TypeDup is MPI_Type_dup.
func (p *Process) TypeDup(oldtype Datatype, newtype *Datatype) Code {
	const function = "MPI_Type_dup"
	old := p.datatype(oldtype)
	if old == nil || !p.live() {
		return p.noType(nil, function, oldtype)
	}
	o := &datatype{Type: types.Dup(old.Type)}
	o.committed.Store(old.committed.Load())
	if code := p.copyAttributes(&old.attributes, uintptr(oldtype), &o.attributes); code != Success {
		*newtype = DatatypeNull
		return p.callbackFailed(nil, function, "copy", code)
	}
	code := p.adoptType(function, o, newtype)
	if code == Success && o.committed.Load() {
		p.tellLane(o)
	}
	return code
}

// TypeSetName is MPI_Type_set_name.
func (p *Process) TypeSetName(datatype Datatype, typeName *byte) Code {
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, "MPI_Type_set_name", datatype)
	}
	name := goString(typeName)
	name = name[:min(len(name), MaxObjectName-1)]
	o.name.Store(&name)
	return Success
}

// TypeGetName is MPI_Type_get_name.
func (p *Process) TypeGetName(datatype Datatype, typeName *byte, resultlen *int32) Code {
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		if datatype == DatatypeNull && p.live() {
			*resultlen = setString(typeName, MaxObjectName, "MPI_DATATYPE_NULL")
			return Success
		}
		return p.noType(nil, "MPI_Type_get_name", datatype)
	}
	*resultlen = setString(typeName, MaxObjectName, o.label())
	return Success
}
