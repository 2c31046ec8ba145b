package binding

import (
	"slices"
	"testing"
)

// form is the layout of elements of 4 bytes in memory: one after another, or with gaps.
type form struct {
	name     string
	datatype Datatype
	step     int
}

// forms are a contiguous type and one that has to be packed.
func forms(t *testing.T, p *Process) []form {
	var spaced Datatype
	ok(t, "TypeCreateResized", p.TypeCreateResized(TypeInt32T, 0, 12, &spaced))
	ok(t, "TypeCommit", p.TypeCommit(&spaced))
	return []form{{"contiguous", TypeInt32T, 1}, {"spaced", spaced, 3}}
}

const gap = -7

// memory holds values in a form, with room for n.
func (f form) memory(values []int32, n int) []int32 {
	m := make([]int32, n*f.step+1) // never empty
	for i := range m {
		m[i] = gap
	}
	for i, v := range values {
		m[i*f.step] = v
	}
	return m
}

// values are the values in memory. Gaps must be unchanged.
func (f form) values(t *testing.T, m []int32, n int) []int32 {
	t.Helper()
	v := make([]int32, n)
	for i := range m {
		if i%f.step == 0 && i/f.step < n {
			v[i/f.step] = m[i]
		} else if m[i] != gap {
			t.Errorf("memory at %d isn't the operation's and has changed", i)
		}
	}
	return v
}

// value is element i of rank r's contribution.
func value(r, i int) int32 { return int32(1000*r + i) }

// given are n elements of rank r's contribution, from element first on.
func given(r, first, n int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = value(r, first+i)
	}
	return v
}

// poison overwrites the contents that earlier operations have left in the pool of buffers.
func poison() {
	var taken []*[]byte
	for size := int64(minBuffer); size <= 4096; size *= 2 {
		for range 8 {
			b := scratch.take(size)
			for i := range *b {
				(*b)[i] = 0xEE
			}
			taken = append(taken, b)
		}
	}
	for _, b := range taken {
		scratch.give(b)
	}
}

// allVariants calls a collective in its three variants. fresh prepares the receive buffer, and
// check looks at it after each end.
func allVariants(t *testing.T, p *Process, name string, fresh func(), check func(how string), call func(v Variant) Code) {
	t.Helper()
	poison()
	fresh()
	ok(t, name, call(Blocking(name)))
	check(name)
	var r Request
	poison()
	fresh()
	ok(t, name+", nonblocking", call(Nonblocking(name, &r)))
	ok(t, "Wait", p.Wait(&r, nil))
	if r != RequestNull {
		t.Errorf("%s: the request isn't null after the end", name)
	}
	check(name + ", nonblocking")
	ok(t, name+", persistent", call(Persistent(name, &r)))
	for range 2 {
		fresh()
		ok(t, "Start", p.Start(&r))
		ok(t, "Wait", p.Wait(&r, nil))
		check(name + ", persistent")
	}
	ok(t, "RequestFree", p.RequestFree(&r))
}

// everyForm runs a test at several numbers of ranks, with and without replicas, for
// all pairs of forms.
func everyForm(t *testing.T, f func(t *testing.T, p *Process, n, me int, out, in form)) {
	for _, s := range [][2]int{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {7, 1}, {3, 2}} {
		replicated(t, s[0], s[1], func(t *testing.T, p *Process) {
			for _, out := range forms(t, p) {
				for _, in := range forms(t, p) {
					f(t, p, s[0], rankOf(p), out, in)
				}
			}
		})
	}
}

// wants compares received values.
func wants(t *testing.T, what string, have, want []int32) {
	t.Helper()
	if !slices.Equal(have, want) {
		t.Errorf("%s: have %d, want %d", what, have, want)
	}
}

const block = 3 // elements
