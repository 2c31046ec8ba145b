package datatype

import "unsafe"

// way is the direction of a copy between the program's memory and a message.
type way bool

const (
	gather  way = false // pack: from the program's memory
	scatter way = true  // unpack: to it
)

// copyRun copies n bytes between mem and the message.
func copyRun(mem, msg unsafe.Pointer, n int64, w way) {
	if w == gather {
		copy(unsafe.Slice((*byte)(msg), n), unsafe.Slice((*byte)(mem), n))
	} else {
		copy(unsafe.Slice((*byte)(mem), n), unsafe.Slice((*byte)(msg), n))
	}
}

// strided copies count runs of size bytes, at off, off+stride … from base.
func strided(base unsafe.Pointer, off, stride, count, size int64, msg unsafe.Pointer, w way) {
	switch size {
	case 1:
		words[uint8](base, off, stride, count, msg, w)
	case 2:
		words[uint16](base, off, stride, count, msg, w)
	case 4:
		words[uint32](base, off, stride, count, msg, w)
	case 8:
		words[uint64](base, off, stride, count, msg, w)
	case 12:
		words[[3]uint32](base, off, stride, count, msg, w)
	case 16:
		words[[2]uint64](base, off, stride, count, msg, w)
	case 24:
		words[[3]uint64](base, off, stride, count, msg, w)
	case 32:
		words[[4]uint64](base, off, stride, count, msg, w)
	default:
		for i := range count {
			copyRun(unsafe.Add(base, off), unsafe.Add(msg, i*size), size, w)
			off += stride
		}
	}
}

// words is strided for runs that the machine copies in a few instructions.
func words[T any](base unsafe.Pointer, off, stride, count int64, msg unsafe.Pointer, w way) {
	dense := unsafe.Slice((*T)(msg), count)
	if w == gather {
		for i := range dense {
			dense[i] = *(*T)(unsafe.Add(base, off))
			off += stride
		}
	} else {
		for i := range dense {
			*(*T)(unsafe.Add(base, off)) = dense[i]
			off += stride
		}
	}
}

// scattered copies items i up to j of a list at off. The items are runs.
func scattered(n *node, i, j int, base unsafe.Pointer, off int64, msg unsafe.Pointer, w way) {
	switch n.width {
	case 4:
		listed[uint32](base, off, n.disps[i:j], msg, w)
	case 8:
		listed[uint64](base, off, n.disps[i:j], msg, w)
	case 16:
		listed[[2]uint64](base, off, n.disps[i:j], msg, w)
	default:
		items := n.items[i:j]
		start := items[0].from
		for k := range items {
			it := &items[k]
			copyRun(unsafe.Add(base, off+it.disp), unsafe.Add(msg, it.from-start), it.size, w)
		}
	}
}

// listed is scattered for runs of one such size.
func listed[T any](base unsafe.Pointer, off int64, disps []int64, msg unsafe.Pointer, w way) {
	dense := unsafe.Slice((*T)(msg), len(disps))
	if w == gather {
		for i, d := range disps {
			dense[i] = *(*T)(unsafe.Add(base, off+d))
		}
	} else {
		for i, d := range disps {
			*(*T)(unsafe.Add(base, off+d)) = dense[i]
		}
	}
}
