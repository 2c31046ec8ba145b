package binding

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"
)

// TestPacking packs different types into one buffer, and unpacks them.
func TestPacking(t *testing.T) {
	alone(t, func(t *testing.T, p *Process) {
		var column Datatype
		ok(t, "TypeVector", p.TypeVector(3, 1, 4, TypeInt, &column))
		ok(t, "TypeCommit", p.TypeCommit(&column))
		matrix := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
		packed := make([]byte, 64)
		buf := unsafe.Pointer(&packed[0])
		var pos, size int32
		position, sizeOut := CountOut{unsafe.Pointer(&pos), false}, CountOut{unsafe.Pointer(&size), false}
		ok(t, "PackSize", p.PackSize(1, column, CommWorld, sizeOut))
		ok(t, "Pack", p.Pack(unsafe.Pointer(&matrix[1]), 1, column, buf, 64, position, CommWorld))
		if pos != 12 || size != 12 {
			t.Errorf("a column has %d bytes, its size is %d", pos, size)
		}
		ok(t, "Pack", p.Pack(unsafe.Pointer(at([]byte("abc"))), 3, TypeChar, buf, 64, position, CommWorld))
		if want := append([]byte{1, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0}, "abc"...); pos != 15 || !bytes.Equal(packed[:15], want) {
			t.Errorf("packed to %d: %v", pos, packed[:15])
		}
		back, text := make([]int32, 12), make([]byte, 3)
		pos = 0
		ok(t, "Unpack", p.Unpack(buf, 15, position, unsafe.Pointer(&back[2]), 1, column, CommWorld))
		ok(t, "Unpack", p.Unpack(buf, 15, position, unsafe.Pointer(&text[0]), 3, TypeChar, CommWorld))
		if !slices.Equal(back, []int32{0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 9, 0}) || string(text) != "abc" || pos != 15 {
			t.Errorf("unpacked to %d: %v, %q", pos, back, text)
		}

		datarep := at([]byte("external32\x00"))
		var external, where int64
		ok(t, "PackExternalSize", p.PackExternalSize(datarep, 2, TypeLong, &external))
		longs := []int64{1, -2}
		ok(t, "PackExternal", p.PackExternal(datarep, unsafe.Pointer(&longs[0]), 2, TypeLong, buf, 64, &where))
		if external != 8 || where != 8 || !bytes.Equal(packed[:8], []byte{0, 0, 0, 1, 255, 255, 255, 254}) {
			t.Errorf("external32 of %d bytes, to %d: %v", external, where, packed[:8])
		}
		where = 4
		one := []int64{0}
		ok(t, "UnpackExternal", p.UnpackExternal(datarep, buf, 8, &where, unsafe.Pointer(&one[0]), 1, TypeLong))
		if one[0] != -2 || where != 8 {
			t.Errorf("back is %d, to %d", one[0], where)
		}
		if code := p.UnpackExternal(datarep, buf, 8, &where, unsafe.Pointer(&one[0]), 1, TypeLong); code != ErrTruncate {
			t.Errorf("unpacking more than there is gives %d", code)
		}
	})
}
