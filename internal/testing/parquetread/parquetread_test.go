package parquetread

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"testing"
)

// file is one that was made by hand: a column of two rows, the second of which is null.
func file() []byte {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	z.Write([]byte{2, 0, 0, 0, 3, 1, 42, 0, 0, 0}) // levels: a group of packed bits, then 42
	z.Close()
	head := []byte{0x15, 0, 0x15, 20, 0x15, byte(2 * body.Len()), 0x2c, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0}
	out := append([]byte("PAR1"), head...)
	out = append(out, body.Bytes()...)
	index := []byte{
		0x15, 2, // version
		0x19, 0x2c, // schema
		0x48, 1, 'R', 0x15, 2, 0, // the row
		0x15, 2, 0x25, 2, 0x18, 1, 'a', 0x6c, 0xac, 0x13, 32, 0x11, 0, 0, 0, // a
		0x16, 4, // rows
		0x19, 0x1c, // a row group
		0x19, 0x1c, 0x3c, 0x15, 2, 0x19, 0x05, 0x19, 0x18, 1, 'a', 0x15, 4, 0x16, 4, 0x16, 0, 0x16, 0, 0x26, 8,
		0x3c, 0x36, 2, 0, 0, 0, 0,
		0x39, 0x1c, 0x1c, 0, 0, // orders
		0,
	}
	out = append(out, index...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(index))), "PAR1"...)
}

// TestRead reads what no code of ours wrote.
func TestRead(t *testing.T) {
	f, err := Read(file())
	if err != nil {
		t.Fatal(err)
	}
	c := f.Columns[0]
	if f.Rows != 2 || c.Name != "a" || c.Type != "optional int32 (INT(32,true))" || *c.Values[0] != "42" || c.Values[1] != nil || c.Nulls[0] != 1 {
		t.Errorf("%+v", f)
	}
}

// FuzzRead looks for a file that Read panics on.
func FuzzRead(f *testing.F) {
	f.Add(file())
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = Read(b) })
}

// TestTorn: a part of a file is an error.
func TestTorn(t *testing.T) {
	whole := file()
	for size := range whole {
		if _, err := Read(whole[:size]); err == nil {
			t.Errorf("%d of %d bytes are read", size, len(whole))
		}
	}
}
