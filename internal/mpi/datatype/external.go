package datatype

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"unsafe"

	"banyan/internal/mpi/softfloat"
)

// ErrShort says that a buffer is too small for the data.
var ErrShort = errors.New("buffer too small")

// PackExternal writes count instances of t at buf to dst in external32: big-endian, with the
// sizes of Kind's table. It returns the number of bytes that it wrote.
//
// As MPI says, an integer that has fewer bytes in external32 (C's long and wchar_t) loses its
// upper bytes. A long double becomes a binary128 exactly, and is rounded on the way back.
func (t *Type) PackExternal(dst []byte, buf unsafe.Pointer, count int64) (int, error) {
	return t.convert(dst, buf, count, gather)
}

// UnpackExternal is the converse of PackExternal.
func (t *Type) UnpackExternal(src []byte, buf unsafe.Pointer, count int64) (int, error) {
	return t.convert(src, buf, count, scatter)
}

func (t *Type) convert(msg []byte, buf unsafe.Pointer, count int64, w way) (int, error) {
	size, ok := t.ExternalBytes(count)
	if !ok || size > int64(len(msg)) {
		return 0, ErrShort
	}
	if size == 0 {
		return 0, nil
	}
	all := repeatNode(count, t.ub-t.lb, t.typed.node)
	rest := exchange(&all, buf, t.typed.disp, msg, w)
	return len(msg) - len(rest), nil
}

// exchange converts the elements of a node whose origin is off bytes from base. It returns the
// rest of the message.
func exchange(n *node, base unsafe.Pointer, off int64, msg []byte, w way) []byte {
	switch n.form {
	case run:
		return exchangeRun(n.kind, n.size, unsafe.Add(base, off), msg, w)
	case loop:
		for i := range n.count {
			msg = exchange(n.child, base, off+i*n.stride, msg, w)
		}
	case list:
		for i := range n.items {
			it := &n.items[i]
			msg = exchange(it.node, base, off+it.disp, msg, w)
		}
	}
	return msg
}

func exchangeRun(k Kind, size int64, at unsafe.Pointer, msg []byte, w way) []byte {
	mem := unsafe.Slice((*byte)(at), size)
	tr := traits[k]
	each, external := int(tr.size), int(tr.external)
	switch k {
	case Complex32, Complex64, Complex128, LongComplex, Complex256: // number by number
		each, external = each/2, external/2
	}
	for len(mem) > 0 {
		m, e := mem[:each], msg[:external]
		switch {
		case k == LongDouble || k == LongComplex:
			if w == gather {
				softfloat.Binary128.Encode(e, softfloat.Extended.Decode(m))
				reverse(e, e)
			} else {
				var native [16]byte
				reverse(native[:], e)
				softfloat.Extended.Encode(m, softfloat.Binary128.Decode(native[:]))
			}
		case external < each: // a long or a wide character
			if w == gather {
				reverse(e, m[:external])
			} else {
				reverse(m[:external], e)
				widen(m, external, k == Long)
			}
		case w == gather:
			reverse(e, m)
		default:
			reverse(m, e)
		}
		mem, msg = mem[each:], msg[external:]
	}
	return msg
}

// reverse copies src to dst, which may be src, with the bytes in the opposite
// order.
func reverse(dst, src []byte) {
	switch len(src) {
	case 1:
		dst[0] = src[0]
	case 2:
		binary.BigEndian.PutUint16(dst, binary.LittleEndian.Uint16(src))
	case 4:
		binary.BigEndian.PutUint32(dst, binary.LittleEndian.Uint32(src))
	case 8:
		binary.BigEndian.PutUint64(dst, binary.LittleEndian.Uint64(src))
	case 16:
		lo, hi := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
		binary.LittleEndian.PutUint64(dst, bits.ReverseBytes64(hi))
		binary.LittleEndian.PutUint64(dst[8:], bits.ReverseBytes64(lo))
	}
}

// widen fills the upper bytes of a little-endian integer of which n bytes are there.
func widen(m []byte, n int, signed bool) {
	fill := byte(0)
	if signed && m[n-1]&0x80 != 0 {
		fill = 0xff
	}
	for i := n; i < len(m); i++ {
		m[i] = fill
	}
}
