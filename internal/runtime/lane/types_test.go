package lane

import "testing"

// TestTypes: C finds a type by its handle, with equal runs at equal distances told apart from
// others, until it is dropped. A type whose place is taken isn't known.
func TestTypes(t *testing.T) {
	m := Private()
	const handle = 0x1003
	for _, c := range []struct {
		name   string
		runs   []Run
		size   int64
		stride int64
		each   int64
	}{
		{"one run", []Run{{4, 24}}, 24, 0, 24},
		{"a vector", []Run{{0, 8}, {32, 8}, {64, 8}}, 24, 32, 8},
		{"backwards", []Run{{64, 8}, {32, 8}}, 16, -32, 8},
		{"other distances", []Run{{0, 8}, {32, 8}, {48, 8}}, 24, 32, 0},
		{"other sizes", []Run{{0, 4}, {8, 8}}, 12, 8, 0},
		{"the last is larger", []Run{{0, 8}, {32, 8}, {64, 16}}, 32, 32, 0},
	} {
		m.SetType(handle, 100, c.runs)
		m.SetType(handle+types<<4, 200, []Run{{0, 1}})
		got := *m.typePlace(handle)
		if got.handle != handle || got.extent != 100 || got.count != int64(len(c.runs)) || got.first != c.runs[0].Disp ||
			got.size != c.size || got.each != c.each || got.each != 0 && got.stride != c.stride {
			t.Errorf("%s: %+v", c.name, got)
		}
		m.DropType(handle + types<<4)
		if m.typePlace(handle).handle != handle {
			t.Errorf("%s: another type's end dropped it", c.name)
		}
		m.DropType(handle)
		if *m.typePlace(handle) != (Type{}) {
			t.Errorf("%s: it isn't dropped", c.name)
		}
	}
	if m.SetType(handle, 8, nil); m.typePlace(handle).handle != 0 {
		t.Error("a type without data is known")
	}
}
