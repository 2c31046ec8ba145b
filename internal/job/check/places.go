package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Place is where a program calls MPI.
type Place struct {
	Op    string // the function
	Where string // in the program, if known
}

func (p Place) String() string {
	if p.Where == "" {
		return p.Op
	}
	return fmt.Sprintf("%s, at %s", p.Op, p.Where)
}

// Places counts calls by place.
type Places map[Place]int

// Add adds the counts of others.
func (p Places) Add(others Places) {
	for place, n := range others {
		p[place] += n
	}
}

// Calls is how many there are at all places.
func (p Places) Calls() (n int) {
	for _, calls := range p {
		n += calls
	}
	return n
}

// Sorted gives the places, those with the most calls first.
func (p Places) Sorted() []Place {
	return slices.SortedFunc(maps.Keys(p), func(a, b Place) int {
		return cmp.Or(cmp.Compare(p[b], p[a]), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Where, b.Where))
	})
}
