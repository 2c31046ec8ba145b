package datatype

// Combiner is the call that made a type. The values are the ABI's MPI_COMBINER_.
type Combiner int32

// The combiners.
const (
	CombinerNamed Combiner = 101 + iota // predefined
	CombinerDup
	CombinerContiguous
	CombinerVector
	CombinerHvector
	CombinerIndexed
	CombinerHindexed
	CombinerIndexedBlock
	CombinerHindexedBlock
	CombinerStruct
	CombinerSubarray
	CombinerDarray
	CombinerF90Real
	CombinerF90Complex
	CombinerF90Integer
	CombinerResized
	CombinerValueIndex
)

// Contents is the call that made a type, with its arguments.
type Contents struct {
	Combiner Combiner
	Types    []*Type
	args     []int64 // the other arguments in the call's order, with the lengths of its lists
}

// class is the list of MPI_Type_get_contents that an argument is in.
type class uint8

const (
	integer class = iota
	address
	largeCount
)

// segment is neighbouring arguments that are in one list. The list depends on the form of the
// call.
type segment struct {
	n            int64
	small, large class
}

// segments are the arguments of the call.
func (c Contents) segments() []segment {
	all := int64(len(c.args))
	switch c.Combiner {
	case CombinerContiguous, CombinerVector, CombinerIndexed, CombinerIndexedBlock:
		return []segment{{all, integer, largeCount}}
	case CombinerHvector:
		return []segment{{2, integer, largeCount}, {1, address, largeCount}}
	case CombinerHindexed, CombinerStruct:
		n := c.args[0]
		return []segment{{1 + n, integer, largeCount}, {n, address, largeCount}}
	case CombinerHindexedBlock:
		return []segment{{2, integer, largeCount}, {c.args[0], address, largeCount}}
	case CombinerSubarray:
		return []segment{{1, integer, integer}, {all - 2, integer, largeCount}, {1, integer, integer}}
	case CombinerDarray:
		n := c.args[2]
		return []segment{{3, integer, integer}, {n, integer, largeCount}, {3*n + 1, integer, integer}}
	case CombinerF90Real, CombinerF90Complex, CombinerF90Integer:
		return []segment{{all, integer, integer}}
	case CombinerResized:
		return []segment{{2, address, largeCount}}
	}
	return nil // named, dup, value_index: types only
}

// Made is the call that made the type.
func (t *Type) Made() Contents { return t.made }

// AsLargeCount is the same type, made by the large-count form of its call.
func (t *Type) AsLargeCount() *Type {
	l := *t
	l.large = true
	return &l
}

// Arguments are the lists of MPI_Type_get_contents: integers, addresses and large counts.
func (t *Type) Arguments() (integers, addresses, counts []int64) {
	rest := t.made.args
	for _, s := range t.made.segments() {
		c := s.small
		if t.large {
			c = s.large
		}
		switch c {
		case integer:
			integers = append(integers, rest[:s.n]...)
		case address:
			addresses = append(addresses, rest[:s.n]...)
		case largeCount:
			counts = append(counts, rest[:s.n]...)
		}
		rest = rest[s.n:]
	}
	return integers, addresses, counts
}
