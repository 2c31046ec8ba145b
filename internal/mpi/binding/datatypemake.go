package binding

import (
	"errors"
	"strings"
	"unsafe"

	types "banyan/internal/mpi/datatype"
)

// made gives a handle to a type from a constructor, or reports the constructor's error.
func (p *Process) made(function string, large bool, t *types.Type, err error, newtype *Datatype) Code {
	if err != nil {
		class := ErrArg
		switch {
		case errors.Is(err, types.ErrCount):
			class = ErrCount
		case errors.Is(err, types.ErrTooLarge):
			class = ErrValueTooLarge
		}
		_, why, _ := strings.Cut(err.Error(), ": ")
		return p.fail(nil, function, class, "%s", why)
	}
	if large {
		t = t.AsLargeCount()
	}
	return p.adoptType(function, &datatype{Type: t}, newtype)
}

// numbers copies an array of n numbers, where n isn't negative. It returns false if n isn't 0
// and the array is null.
func (c Counts) numbers(n int64) ([]int64, bool) {
	if n == 0 {
		return nil, true
	}
	if c.IsNil() {
		return nil, false
	}
	s := make([]int64, n)
	for i := range s {
		s[i] = c.At(i)
	}
	return s, true
}

func wide(p *int64) Counts   { return Counts{unsafe.Pointer(p), true} }
func narrow(p *int32) Counts { return Counts{unsafe.Pointer(p), false} }

// arrays copies arrays of n numbers.
func (p *Process) arrays(function string, n int64, cs ...Counts) (all [][]int64, code Code) {
	if !p.live() {
		return nil, p.outOfTime(function)
	}
	if n < 0 {
		return nil, p.fail(nil, function, ErrCount, "the count is %d", n)
	}
	for _, c := range cs {
		s, ok := c.numbers(n)
		if !ok {
			return nil, p.fail(nil, function, ErrArg, "an array is null, and should have %d elements", n)
		}
		all = append(all, s)
	}
	return all, Success
}

// makeType makes a type from one other type.
func (p *Process) makeType(function string, large bool, oldtype Datatype, newtype *Datatype, build func(old *types.Type) (*types.Type, error)) Code {
	old := p.datatype(oldtype)
	if old == nil || !p.live() {
		return p.noType(nil, function, oldtype)
	}
	t, err := build(old.Type)
	return p.made(function, large, t, err, newtype)
}

// TypeContiguous is MPI_Type_contiguous.
func (p *Process) TypeContiguous(count int32, oldtype Datatype, newtype *Datatype) Code {
	return p.contiguous("MPI_Type_contiguous", false, int64(count), oldtype, newtype)
}

// TypeContiguousC is MPI_Type_contiguous_c.
func (p *Process) TypeContiguousC(count int64, oldtype Datatype, newtype *Datatype) Code {
	return p.contiguous("MPI_Type_contiguous_c", true, count, oldtype, newtype)
}

func (p *Process) contiguous(function string, large bool, count int64, oldtype Datatype, newtype *Datatype) Code {
	return p.makeType(function, large, oldtype, newtype, func(old *types.Type) (*types.Type, error) {
		return types.Contiguous(count, old)
	})
}

// TypeVector is MPI_Type_vector.
func (p *Process) TypeVector(count, blocklength, stride int32, oldtype Datatype, newtype *Datatype) Code {
	return p.vector("MPI_Type_vector", false, types.Vector, int64(count), int64(blocklength), int64(stride), oldtype, newtype)
}

// TypeVectorC is MPI_Type_vector_c.
func (p *Process) TypeVectorC(count, blocklength, stride int64, oldtype Datatype, newtype *Datatype) Code {
	return p.vector("MPI_Type_vector_c", true, types.Vector, count, blocklength, stride, oldtype, newtype)
}

// TypeCreateHvector is MPI_Type_create_hvector.
func (p *Process) TypeCreateHvector(count, blocklength int32, stride int64, oldtype Datatype, newtype *Datatype) Code {
	return p.vector("MPI_Type_create_hvector", false, types.Hvector, int64(count), int64(blocklength), stride, oldtype, newtype)
}

// TypeCreateHvectorC is MPI_Type_create_hvector_c.
func (p *Process) TypeCreateHvectorC(count, blocklength, stride int64, oldtype Datatype, newtype *Datatype) Code {
	return p.vector("MPI_Type_create_hvector_c", true, types.Hvector, count, blocklength, stride, oldtype, newtype)
}

func (p *Process) vector(function string, large bool, build func(count, blocklength, stride int64, old *types.Type) (*types.Type, error),
	count, blocklength, stride int64, oldtype Datatype, newtype *Datatype) Code {
	return p.makeType(function, large, oldtype, newtype, func(old *types.Type) (*types.Type, error) {
		return build(count, blocklength, stride, old)
	})
}

// TypeIndexed is MPI_Type_indexed.
func (p *Process) TypeIndexed(count int64, arrayOfBlocklengths, arrayOfDisplacements Counts, oldtype Datatype, newtype *Datatype) Code {
	return p.indexed("MPI_Type_indexed", types.Indexed, count, arrayOfBlocklengths, arrayOfDisplacements, oldtype, newtype)
}

// TypeCreateHindexed is MPI_Type_create_hindexed.
func (p *Process) TypeCreateHindexed(count int64, arrayOfBlocklengths Counts, arrayOfDisplacements *int64, oldtype Datatype, newtype *Datatype) Code {
	return p.indexed("MPI_Type_create_hindexed", types.Hindexed, count, arrayOfBlocklengths, wide(arrayOfDisplacements), oldtype, newtype)
}

func (p *Process) indexed(function string, build func(blocklengths, displacements []int64, old *types.Type) (*types.Type, error),
	count int64, blocklengths, displacements Counts, oldtype Datatype, newtype *Datatype) Code {
	a, code := p.arrays(function, count, blocklengths, displacements)
	if code != Success {
		return code
	}
	return p.makeType(function, blocklengths.Wide, oldtype, newtype, func(old *types.Type) (*types.Type, error) {
		return build(a[0], a[1], old)
	})
}

// TypeCreateIndexedBlock is MPI_Type_create_indexed_block.
func (p *Process) TypeCreateIndexedBlock(count, blocklength int64, arrayOfDisplacements Counts, oldtype Datatype, newtype *Datatype) Code {
	return p.indexedBlock("MPI_Type_create_indexed_block", arrayOfDisplacements.Wide, types.IndexedBlock, count, blocklength, arrayOfDisplacements, oldtype, newtype)
}

// TypeCreateHindexedBlock is MPI_Type_create_hindexed_block.
func (p *Process) TypeCreateHindexedBlock(count, blocklength int32, arrayOfDisplacements *int64, oldtype Datatype, newtype *Datatype) Code {
	return p.indexedBlock("MPI_Type_create_hindexed_block", false, types.HindexedBlock, int64(count), int64(blocklength), wide(arrayOfDisplacements), oldtype, newtype)
}

// TypeCreateHindexedBlockC is MPI_Type_create_hindexed_block_c.
func (p *Process) TypeCreateHindexedBlockC(count, blocklength int64, arrayOfDisplacements *int64, oldtype Datatype, newtype *Datatype) Code {
	return p.indexedBlock("MPI_Type_create_hindexed_block_c", true, types.HindexedBlock, count, blocklength, wide(arrayOfDisplacements), oldtype, newtype)
}

func (p *Process) indexedBlock(function string, large bool, build func(blocklength int64, displacements []int64, old *types.Type) (*types.Type, error),
	count, blocklength int64, displacements Counts, oldtype Datatype, newtype *Datatype) Code {
	a, code := p.arrays(function, count, displacements)
	if code != Success {
		return code
	}
	return p.makeType(function, large, oldtype, newtype, func(old *types.Type) (*types.Type, error) {
		return build(blocklength, a[0], old)
	})
}

// TypeCreateStruct is MPI_Type_create_struct.
func (p *Process) TypeCreateStruct(count int64, arrayOfBlocklengths Counts, arrayOfDisplacements *int64, arrayOfTypes, newtype *Datatype) Code {
	const function = "MPI_Type_create_struct"
	a, code := p.arrays(function, count, arrayOfBlocklengths, wide(arrayOfDisplacements))
	if code != Success {
		return code
	}
	if count > 0 && arrayOfTypes == nil {
		return p.fail(nil, function, ErrArg, "the array of types is null")
	}
	fields := make([]*types.Type, count)
	for i, h := range unsafe.Slice(arrayOfTypes, count) {
		o := p.datatype(h)
		if o == nil {
			return p.noType(nil, function, h)
		}
		fields[i] = o.Type
	}
	t, err := types.Struct(a[0], a[1], fields)
	return p.made(function, arrayOfBlocklengths.Wide, t, err, newtype)
}

// TypeCreateResized is MPI_Type_create_resized.
func (p *Process) TypeCreateResized(oldtype Datatype, lb, extent int64, newtype *Datatype) Code {
	return p.resized("MPI_Type_create_resized", false, oldtype, lb, extent, newtype)
}

// TypeCreateResizedC is MPI_Type_create_resized_c.
func (p *Process) TypeCreateResizedC(oldtype Datatype, lb, extent int64, newtype *Datatype) Code {
	return p.resized("MPI_Type_create_resized_c", true, oldtype, lb, extent, newtype)
}

func (p *Process) resized(function string, large bool, oldtype Datatype, lb, extent int64, newtype *Datatype) Code {
	return p.makeType(function, large, oldtype, newtype, func(old *types.Type) (*types.Type, error) {
		return types.Resized(old, lb, extent)
	})
}

// TypeCreateSubarray is MPI_Type_create_subarray.
func (p *Process) TypeCreateSubarray(ndims int32, arrayOfSizes, arrayOfSubsizes, arrayOfStarts Counts, order int32, oldtype Datatype, newtype *Datatype) Code {
	const function = "MPI_Type_create_subarray"
	a, code := p.arrays(function, int64(ndims), arrayOfSizes, arrayOfSubsizes, arrayOfStarts)
	if code != Success {
		return code
	}
	return p.makeType(function, arrayOfSizes.Wide, oldtype, newtype, func(old *types.Type) (*types.Type, error) {
		return types.Subarray(a[0], a[1], a[2], types.Order(order), old)
	})
}

// TypeCreateDarray is MPI_Type_create_darray.
func (p *Process) TypeCreateDarray(size, rank, ndims int32, arrayOfGsizes Counts, arrayOfDistribs, arrayOfDargs, arrayOfPsizes *int32, order int32, oldtype Datatype, newtype *Datatype) Code {
	const function = "MPI_Type_create_darray"
	a, code := p.arrays(function, int64(ndims), arrayOfGsizes, narrow(arrayOfDistribs), narrow(arrayOfDargs), narrow(arrayOfPsizes))
	if code != Success {
		return code
	}
	g := types.Grid{Size: int64(size), Rank: int64(rank), Sizes: a[0], Arguments: a[2], Processes: a[3], Order: types.Order(order)}
	for _, d := range a[1] {
		g.Distributions = append(g.Distributions, types.Distribution(d))
	}
	return p.makeType(function, arrayOfGsizes.Wide, oldtype, newtype, func(old *types.Type) (*types.Type, error) {
		return types.Darray(g, old)
	})
}
