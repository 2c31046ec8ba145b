package datatype

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bytesOf are the displacements of all bytes, in the order of packing.
func bytesOf(t *Type) (all []int64) {
	t.Runs(func(disp, size int64) bool {
		for i := range size {
			all = append(all, disp+i)
		}
		return true
	})
	return all
}

// From every byte on, the runs of random types are those of the whole without what is before.
func TestRunsFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := draw(t, 4).t
		all := bytesOf(typ)
		skip := rapid.IntRange(0, len(all)).Draw(t, "skip")
		var got []int64
		typ.RunsFrom(int64(skip), func(disp, size int64) bool {
			for i := range size {
				got = append(got, disp+i)
			}
			return true
		})
		if !slices.Equal(got, all[skip:]) {
			t.Fatalf("from byte %d of %v: %v", skip, all, got)
		}
		if skip < len(all) && typ.Position(int64(skip)) != all[skip] {
			t.Fatalf("byte %d is at %d, want %d", skip, typ.Position(int64(skip)), all[skip])
		}
		ascends := true
		for i := 1; i < len(all); i++ {
			ascends = ascends && all[i-1] < all[i]
		}
		if typ.Ascends() != ascends {
			t.Fatalf("Ascends is %v of %v", typ.Ascends(), all)
		}
	})
}

// A type that is made again of the same elements has the same map; made of elements of twice the
// size, distances in extents grow, and distances in bytes stay.
func TestRepresented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := draw(t, 4).t
		same, err := typ.Represented(func(b *Type) (*Type, error) { return b, nil })
		if err != nil || same.lb != typ.lb || same.ub != typ.ub || !slices.Equal(bytesOf(same), bytesOf(typ)) {
			t.Fatalf("%v: %v is made again as %v", err, bytesOf(typ), bytesOf(same))
		}
		if typ.external == 0 {
			return
		}
		// Elements whose external32 isn't all there don't count.
		last := int64(0)
		for n := range 2*typ.external + 1 {
			native := typ.NativeBytes(n)
			if native < last || n == 2*typ.external && native != 2*typ.size {
				t.Fatalf("%d bytes of external32 are %d of %d", n, native, typ.size)
			}
			if _, whole := typ.ElementsIn(native); !whole {
				t.Fatalf("%d bytes of external32 end in an element", n)
			}
			last = native
		}
	})
	long := Predefined(0x20a)
	v := must(Vector(3, 1, 2, long))
	file := must(v.InExternal())
	if got, want := bytesOf(file), []int64{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19}; !slices.Equal(got, want) {
		t.Errorf("longs in external32 are at %v, want %v", got, want)
	}
	if d := Predefined(0x214); must(d.InExternal()) != d {
		t.Error("a double isn't the same in external32")
	}
}
