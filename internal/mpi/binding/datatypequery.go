package binding

import types "banyan/internal/mpi/datatype"

// TypeSize is MPI_Type_size: MPI_UNDEFINED if it doesn't fit.
func (p *Process) TypeSize(datatype Datatype, size CountOut) Code {
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, "MPI_Type_size", datatype)
	}
	size.Set(o.Size())
	return Success
}

// TypeGetExtent is MPI_Type_get_extent.
func (p *Process) TypeGetExtent(datatype Datatype, lb, extent *int64) Code {
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, "MPI_Type_get_extent", datatype)
	}
	*lb, *extent = o.Extent()
	return Success
}

// TypeGetTrueExtent is MPI_Type_get_true_extent.
func (p *Process) TypeGetTrueExtent(datatype Datatype, trueLb, trueExtent *int64) Code {
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, "MPI_Type_get_true_extent", datatype)
	}
	*trueLb, *trueExtent = o.TrueExtent()
	return Success
}

// TypeGetEnvelope is MPI_Type_get_envelope.
func (p *Process) TypeGetEnvelope(datatype Datatype, numIntegers, numAddresses, numDatatypes, combiner *int32) Code {
	const function = "MPI_Type_get_envelope"
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	i, a, n := o.Arguments()
	if len(n) > 0 {
		return p.fail(nil, function, ErrType, "%s was made with large counts, which MPI_Type_get_envelope_c gives", o.title())
	}
	*numIntegers, *numAddresses, *numDatatypes = int32(len(i)), int32(len(a)), int32(len(o.Made().Types))
	*combiner = int32(o.Made().Combiner)
	return Success
}

// TypeGetEnvelopeC is MPI_Type_get_envelope_c.
func (p *Process) TypeGetEnvelopeC(datatype Datatype, numIntegers, numAddresses, numLargeCounts, numDatatypes *int64, combiner *int32) Code {
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, "MPI_Type_get_envelope_c", datatype)
	}
	i, a, n := o.Arguments()
	*numIntegers, *numAddresses, *numLargeCounts = int64(len(i)), int64(len(a)), int64(len(n))
	*numDatatypes, *combiner = int64(len(o.Made().Types)), int32(o.Made().Combiner)
	return Success
}

// TypeGetContents is MPI_Type_get_contents.
func (p *Process) TypeGetContents(datatype Datatype, maxIntegers, maxAddresses, maxDatatypes int32, arrayOfIntegers *int32, arrayOfAddresses *int64, arrayOfDatatypes *Datatype) Code {
	const function = "MPI_Type_get_contents"
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	if _, _, n := o.Arguments(); len(n) > 0 {
		return p.fail(nil, function, ErrType, "%s was made with large counts, which MPI_Type_get_contents_c gives", o.title())
	}
	return p.contents(function, o, int64(maxIntegers), int64(maxAddresses), 0, int64(maxDatatypes), arrayOfIntegers, arrayOfAddresses, nil, arrayOfDatatypes)
}

// TypeGetContentsC is MPI_Type_get_contents_c.
func (p *Process) TypeGetContentsC(datatype Datatype, maxIntegers, maxAddresses, maxLargeCounts, maxDatatypes int64, arrayOfIntegers *int32, arrayOfAddresses, arrayOfLargeCounts *int64, arrayOfDatatypes *Datatype) Code {
	const function = "MPI_Type_get_contents_c"
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	return p.contents(function, o, maxIntegers, maxAddresses, maxLargeCounts, maxDatatypes, arrayOfIntegers, arrayOfAddresses, arrayOfLargeCounts, arrayOfDatatypes)
}

func (p *Process) contents(function string, o *datatype, maxIntegers, maxAddresses, maxCounts, maxTypes int64,
	integers *int32, addresses, counts *int64, datatypes *Datatype) Code {
	made := o.Made()
	if made.Combiner == types.CombinerNamed {
		return p.fail(nil, function, ErrType, "%s is predefined and has no contents", o.title())
	}
	i, a, n := o.Arguments()
	for _, room := range []struct {
		what   string
		has    int
		max    int64
		absent bool
	}{
		{"integers", len(i), maxIntegers, integers == nil}, {"addresses", len(a), maxAddresses, addresses == nil},
		{"large counts", len(n), maxCounts, counts == nil}, {"datatypes", len(made.Types), maxTypes, datatypes == nil},
	} {
		if room.has > 0 && room.absent {
			return p.fail(nil, function, ErrArg, "the array for %d %s is NULL", room.has, room.what)
		}
		if int64(room.has) > room.max {
			return p.fail(nil, function, ErrArg, "%s has %d %s, and there is room for %d", o.title(), room.has, room.what, room.max)
		}
	}
	to := array(integers, int32(len(i)))
	for k := range to {
		to[k] = int32(i[k])
	}
	copy(array(addresses, int32(len(a))), a)
	copy(array(counts, int32(len(n))), n)
	for k, t := range made.Types {
		h, code := p.handleOf(function, t)
		if code != Success {
			return code
		}
		array(datatypes, int32(len(made.Types)))[k] = h
	}
	return Success
}

// handleOf is the handle of a type that another was made of. Unless the type is predefined, the
// handle is new, and the program frees it.
func (p *Process) handleOf(function string, t *types.Type) (Datatype, Code) {
	if h := Datatype(t.Handle()); h != 0 {
		return h, Success
	}
	o := &datatype{Type: t}
	if o.predefined() {
		i, _, _ := t.Arguments()
		choice := precision{combiner: t.Made().Combiner, r: int32(i[len(i)-1])}
		if len(i) > 1 {
			choice.p = int32(i[0])
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.datatypes.byPrecision[choice], Success
	}
	var h Datatype
	code := p.adoptType(function, o, &h)
	return h, code
}

// GetCount is MPI_Get_count.
func (p *Process) GetCount(status *Status, datatype Datatype, count CountOut) Code {
	const function = "MPI_Get_count"
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	if status == nil {
		return p.fail(nil, function, ErrArg, "the status is MPI_STATUS_IGNORE")
	}
	n, whole := o.Count(status.Bytes())
	if !whole {
		n = Undefined
	}
	count.Set(n)
	return Success
}

// GetElements is MPI_Get_elements.
func (p *Process) GetElements(status *Status, datatype Datatype, count CountOut) Code {
	const function = "MPI_Get_elements"
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	if status == nil {
		return p.fail(nil, function, ErrArg, "the status is MPI_STATUS_IGNORE")
	}
	n, whole := o.ElementsIn(status.Bytes())
	if !whole {
		n = Undefined
	}
	count.Set(n)
	return Success
}

// StatusSetElements is MPI_Status_set_elements.
func (p *Process) StatusSetElements(status *Status, datatype Datatype, count int64) Code {
	const function = "MPI_Status_set_elements"
	o := p.datatype(datatype)
	if o == nil || !p.live() {
		return p.noType(nil, function, datatype)
	}
	if count < 0 {
		return p.fail(nil, function, ErrCount, "the count is %d", count)
	}
	n, ok := o.BytesOf(count)
	if !ok {
		return p.fail(nil, function, ErrCount, "%d elements of %s are too large", count, o.title())
	}
	status.SetBytes(n)
	return Success
}
