package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Site is a call site: where a program calls MPI.
type Site struct {
	Op    string // the function
	Where string // in the program, if known
}

func (p Site) String() string {
	if p.Where == "" {
		return p.Op
	}
	return fmt.Sprintf("%s, at %s", p.Op, p.Where)
}

// Sites counts calls by site.
type Sites map[Site]int

// Add adds the counts of others.
func (p Sites) Add(others Sites) {
	for place, n := range others {
		p[place] += n
	}
}

// Calls is the number of calls at all sites.
func (p Sites) Calls() (n int) {
	for _, calls := range p {
		n += calls
	}
	return n
}

// Sorted lists the sites, those with the most calls first.
func (p Sites) Sorted() []Site {
	return slices.SortedFunc(maps.Keys(p), func(a, b Site) int {
		return cmp.Or(cmp.Compare(p[b], p[a]), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Where, b.Where))
	})
}
