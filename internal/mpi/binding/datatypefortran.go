package binding

import types "banyan/internal/mpi/datatype"

// byPrecision gives a handle to a type that Fortran chooses by its precision. The same choice
// has the same handle, as the standard asks; it is never freed.
func (p *Process) byPrecision(function string, t *types.Type, err error, choice precision, newtype *Datatype) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	if err != nil {
		return p.made(function, false, nil, err, newtype)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if h, ok := p.datatypes.byPrecision[choice]; ok {
		*newtype = h
		return Success
	}
	o := &datatype{Type: t}
	o.committed.Store(true)
	if code := p.adoptType(function, o, newtype); code != Success {
		return code
	}
	if p.datatypes.byPrecision == nil {
		p.datatypes.byPrecision = map[precision]Datatype{}
	}
	p.datatypes.byPrecision[choice] = o.handle
	return Success
}

// precision is a Fortran program's choice of a type.
type precision struct {
	combiner types.Combiner
	p, r     int32
}

// TypeCreateF90Real is MPI_Type_create_f90_real.
func (p *Process) TypeCreateF90Real(precisionDigits, r int32, newtype *Datatype) Code {
	t, err := types.F90Real(int64(precisionDigits), int64(r))
	return p.byPrecision("MPI_Type_create_f90_real", t, err, precision{types.CombinerF90Real, precisionDigits, r}, newtype)
}

// TypeCreateF90Complex is MPI_Type_create_f90_complex.
func (p *Process) TypeCreateF90Complex(precisionDigits, r int32, newtype *Datatype) Code {
	t, err := types.F90Complex(int64(precisionDigits), int64(r))
	return p.byPrecision("MPI_Type_create_f90_complex", t, err, precision{types.CombinerF90Complex, precisionDigits, r}, newtype)
}

// TypeCreateF90Integer is MPI_Type_create_f90_integer.
func (p *Process) TypeCreateF90Integer(r int32, newtype *Datatype) Code {
	t, err := types.F90Integer(int64(r))
	return p.byPrecision("MPI_Type_create_f90_integer", t, err, precision{types.CombinerF90Integer, 0, r}, newtype)
}

// TypeMatchSize is MPI_Type_match_size.
func (p *Process) TypeMatchSize(typeclass, size int32, datatype *Datatype) Code {
	const function = "MPI_Type_match_size"
	if !p.live() {
		return p.outOfTime(function)
	}
	t, err := types.MatchSize(types.Class(typeclass), int64(size))
	if err != nil {
		return p.made(function, false, nil, err, datatype)
	}
	*datatype = Datatype(t.Handle())
	return Success
}

// TypeGetValueIndex is MPI_Type_get_value_index.
func (p *Process) TypeGetValueIndex(valueType, indexType Datatype, pairType *Datatype) Code {
	const function = "MPI_Type_get_value_index"
	var parts [2]*types.Type
	for i, h := range []Datatype{valueType, indexType} {
		o := p.datatype(h)
		if o == nil || !p.live() {
			return p.noType(nil, function, h)
		}
		parts[i] = o.Type
	}
	*pairType = DatatypeNull
	if t := types.ValueIndex(parts[0], parts[1]); t != nil {
		*pairType = Datatype(t.Handle())
	}
	return Success
}
