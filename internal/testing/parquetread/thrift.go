package parquetread

import "encoding/binary"

// fields are a structure of Thrift's compact protocol: bool, int, []byte, []any or fields, by
// number.
type fields map[int]any

func (f fields) number(id int) int       { return f[id].(int) }
func (f fields) text(id int) string      { return string(f[id].([]byte)) }
func (f fields) structure(id int) fields { return f[id].(fields) }

func (f fields) structures(id int) (all []fields) {
	for _, x := range f[id].([]any) {
		all = append(all, x.(fields))
	}
	return all
}

func newStructure(b []byte) fields { return (&decoder{b}).structure() }

type decoder struct{ b []byte }

func (d *decoder) byte() byte {
	x := d.b[0]
	d.b = d.b[1:]
	return x
}

func (d *decoder) varint() int {
	x, n := binary.Varint(d.b)
	d.b = d.b[n:]
	return int(x)
}

func (d *decoder) uvarint() int {
	x, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return int(x)
}

func (d *decoder) structure() fields {
	f := fields{}
	for id := 0; ; {
		head := d.byte()
		if head == 0 {
			return f
		}
		if head>>4 == 0 {
			id = d.varint()
		} else {
			id += int(head >> 4)
		}
		f[id] = d.value(head & 15)
	}
}

func (d *decoder) value(kind byte) any {
	switch kind {
	case 1, 2:
		return kind == 1
	case 3:
		return int(int8(d.byte()))
	case 4, 5, 6:
		return d.varint()
	case 8:
		n := d.uvarint()
		x := d.b[:n]
		d.b = d.b[n:]
		return x
	case 9:
		head := d.byte()
		n := int(head >> 4)
		if n == 15 {
			n = d.uvarint()
		}
		all := make([]any, 0, min(n, 1000))
		for range n {
			all = append(all, d.value(head&15))
		}
		return all
	case 12:
		return d.structure()
	}
	panic("a field of an unknown type")
}
