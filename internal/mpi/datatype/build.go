package datatype

import "fmt"

// negative is the error of a negative count.
func negative(what string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%w: %s is %d", ErrCount, what, n)
	}
	return nil
}

// Contiguous is count instances of old, one after another.
func Contiguous(count int64, old *Type) (*Type, error) {
	if err := negative("count", count); err != nil {
		return nil, err
	}
	var a arith
	s := old.block(count, &a)
	return finish(s, &a, Contents{Combiner: CombinerContiguous, args: []int64{count}, Types: []*Type{old}})
}

// block is n instances of t in a row.
func (t *Type) block(n int64, a *arith) shape { return t.repeated(n, t.ub-t.lb, a) }

// Vector is count blocks of blocklength instances of old; blocks begin stride
// instances apart.
func Vector(count, blocklength, stride int64, old *Type) (*Type, error) {
	var a arith
	bytes := a.mul(stride, old.ub-old.lb)
	return vector(count, blocklength, stride, bytes, old, CombinerVector, &a)
}

// Hvector is Vector with the stride in bytes.
func Hvector(count, blocklength, stride int64, old *Type) (*Type, error) {
	return vector(count, blocklength, stride, stride, old, CombinerHvector, new(arith))
}

func vector(count, blocklength, stride, bytes int64, old *Type, c Combiner, a *arith) (*Type, error) {
	if err := negative("count", count); err != nil {
		return nil, err
	}
	if err := negative("blocklength", blocklength); err != nil {
		return nil, err
	}
	s := old.block(blocklength, a).repeated(count, bytes, a)
	return finish(s, a, Contents{Combiner: c, args: []int64{count, blocklength, stride}, Types: []*Type{old}})
}

// Indexed is blocks of instances of old: blocklengths[i] of them, displacements[i] instances
// from the origin.
func Indexed(blocklengths, displacements []int64, old *Type) (*Type, error) {
	return indexed(blocklengths, displacements, old.ub-old.lb, old, CombinerIndexed)
}

// Hindexed is Indexed with displacements in bytes.
func Hindexed(blocklengths, displacements []int64, old *Type) (*Type, error) {
	return indexed(blocklengths, displacements, 1, old, CombinerHindexed)
}

func indexed(blocklengths, displacements []int64, unit int64, old *Type, c Combiner) (*Type, error) {
	var a arith
	all, block := joining(len(displacements)), shape{}
	for i, n := range blocklengths {
		if err := negativeAt("blocklength", i, n); err != nil {
			return nil, err
		}
		if i == 0 || n != blocklengths[i-1] { // else the same nodes: join finds them regular
			block = old.block(n, &a)
		}
		all.add(block.displaced(displacements[i], unit, &a), &a)
	}
	args := append([]int64{int64(len(displacements))}, blocklengths...)
	args = append(args, displacements...)
	return finish(all.end(&a), &a, Contents{Combiner: c, args: args, Types: []*Type{old}})
}

// displaced is a shape that is moved from the origin to its displacement. That of an empty block
// has no effect, and may be anything.
func (s shape) displaced(displacement, unit int64, a *arith) shape {
	if s.elements > 0 || s.marked {
		return s.moved(a.mul(displacement, unit), a)
	}
	return s
}

func negativeAt(what string, i int, n int64) error {
	if n < 0 {
		return fmt.Errorf("%w: %s %d is %d", ErrCount, what, i, n)
	}
	return nil
}

// IndexedBlock is Indexed with blocks of one length.
func IndexedBlock(blocklength int64, displacements []int64, old *Type) (*Type, error) {
	return indexedBlock(blocklength, displacements, old.ub-old.lb, old, CombinerIndexedBlock)
}

// HindexedBlock is IndexedBlock with displacements in bytes.
func HindexedBlock(blocklength int64, displacements []int64, old *Type) (*Type, error) {
	return indexedBlock(blocklength, displacements, 1, old, CombinerHindexedBlock)
}

func indexedBlock(blocklength int64, displacements []int64, unit int64, old *Type, c Combiner) (*Type, error) {
	if err := negative("blocklength", blocklength); err != nil {
		return nil, err
	}
	var a arith
	one := old.block(blocklength, &a)
	if a.over {
		return nil, a.err("the datatype")
	}
	all := joining(len(displacements))
	for _, d := range displacements {
		all.add(one.displaced(d, unit, &a), &a)
	}
	args := append([]int64{int64(len(displacements)), blocklength}, displacements...)
	return finish(all.end(&a), &a, Contents{Combiner: c, args: args, Types: []*Type{old}})
}

// Struct is blocks of different types: blocklengths[i] instances of types[i],
// displacements[i] bytes from the origin.
func Struct(blocklengths, displacements []int64, types []*Type) (*Type, error) {
	var a arith
	all := joining(len(types))
	for i, t := range types {
		if err := negativeAt("blocklength", i, blocklengths[i]); err != nil {
			return nil, err
		}
		all.add(t.block(blocklengths[i], &a).displaced(displacements[i], 1, &a), &a)
	}
	args := append([]int64{int64(len(types))}, blocklengths...)
	args = append(args, displacements...)
	return finish(all.end(&a), &a, Contents{Combiner: CombinerStruct, args: args, Types: append([]*Type(nil), types...)})
}

// Resized is old with another lower bound and extent. Its data doesn't matter.
func Resized(old *Type, lb, extent int64) (*Type, error) {
	var a arith
	s := old.shape
	s.marked, s.markLB, s.markUB = true, a.in(lb), a.add(lb, extent)
	return finish(s, &a, Contents{Combiner: CombinerResized, args: []int64{lb, extent}, Types: []*Type{old}})
}

// Dup is a duplicate of old.
func Dup(old *Type) *Type {
	t := *old
	t.made = Contents{Combiner: CombinerDup, Types: []*Type{old}}
	t.large, t.name, t.handle = false, "", 0
	return &t
}
