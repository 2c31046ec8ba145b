package datatype

// Type is a datatype. It never changes.
type Type struct {
	shape
	lb, ub int64
	made   Contents
	large  bool // made by a large-count call
	name   string
	handle uintptr
}

// finish makes a type of a shape, or returns an error if a number was too large.
func finish(s shape, a *arith, made Contents) (*Type, error) {
	if err := a.err("the datatype"); err != nil {
		return nil, err
	}
	t := &Type{shape: s, made: made}
	t.lb, t.ub = t.bounds()
	if e := t.ub - t.lb; e > limit || e < -limit {
		a.over = true
		return nil, a.err("the extent")
	}
	return t, nil
}

// Size is the number of bytes of data in an instance.
func (t *Type) Size() int64 { return t.size }

// Extent is the lower bound, and the distance between the instances of an array.
func (t *Type) Extent() (lb, extent int64) { return t.lb, t.ub - t.lb }

// TrueExtent is the beginning and the length of the memory around the data.
func (t *Type) TrueExtent() (lb, extent int64) { return t.trueLB, t.trueUB - t.trueLB }

// Kind is the kind of all the elements (or of all the pairs), or Mixed.
func (t *Type) Kind() Kind { return t.kind }

// Basic tells whether the predefined reductions accept the type: it is predefined, by name or
// by a Fortran precision, or a duplicate of such a type.
func (t *Type) Basic() bool {
	switch t.made.Combiner {
	case CombinerNamed, CombinerF90Real, CombinerF90Complex, CombinerF90Integer, CombinerValueIndex:
		return true
	case CombinerDup:
		return t.made.Types[0].Basic()
	}
	return false
}

// Name is the MPI name of a predefined type, and empty for others.
func (t *Type) Name() string { return t.name }

// Handle is the ABI's constant for a predefined type, and 0 for others.
func (t *Type) Handle() uintptr { return t.handle }

// Span is the memory of count instances, relative to the program's address: length bytes from
// first. Both are 0 if there is no data.
func (t *Type) Span(count int64) (first, length int64) {
	if count == 0 || t.size == 0 {
		return 0, 0
	}
	last := (count - 1) * (t.ub - t.lb)
	return t.trueLB + min(last, 0), t.trueUB - t.trueLB + max(last, -last)
}

// Contiguous tells whether the data of count instances has the same layout in memory as in a
// message, and so needs no packing. Then it is Size·count bytes from first.
func (t *Type) Contiguous(count int64) (first int64, ok bool) {
	n := t.bytes.node
	if n == nil || count == 0 {
		return 0, true
	}
	return t.bytes.disp, n.form == run && (count == 1 || n.size == t.ub-t.lb)
}
