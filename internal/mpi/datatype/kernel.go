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

// words is strided for runs that the machine copies in a few instructions: four at a time, so that
// the loop itself takes few.
func words[T any](base unsafe.Pointer, off, stride, count int64, msg unsafe.Pointer, w way) {
	dense := unsafe.Slice((*T)(msg), count)
	if w == gather {
		for ; len(dense) >= 4; dense = dense[4:] {
			at := unsafe.Add(base, off)
			dense[0] = *(*T)(at)
			dense[1] = *(*T)(unsafe.Add(at, stride))
			dense[2] = *(*T)(unsafe.Add(at, 2*stride))
			dense[3] = *(*T)(unsafe.Add(at, 3*stride))
			off += 4 * stride
		}
		for i := range dense {
			dense[i] = *(*T)(unsafe.Add(base, off))
			off += stride
		}
		return
	}
	for ; len(dense) >= 4; dense = dense[4:] {
		at := unsafe.Add(base, off)
		*(*T)(at) = dense[0]
		*(*T)(unsafe.Add(at, stride)) = dense[1]
		*(*T)(unsafe.Add(at, 2*stride)) = dense[2]
		*(*T)(unsafe.Add(at, 3*stride)) = dense[3]
		off += 4 * stride
	}
	for i := range dense {
		*(*T)(unsafe.Add(base, off)) = dense[i]
		off += stride
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
		shorts(n.items[i:j], base, off, msg, w)
	}
}

// shorts copies runs that are often short. A call for each would take longer than the copy. A run
// of one to two times a word's size is its first word and its last: sizes that differ share a case,
// so that the processor guesses it.
func shorts(items []item, base unsafe.Pointer, off int64, msg unsafe.Pointer, w way) {
	start := items[0].from
	for k := range items {
		it := &items[k]
		to, from, n := unsafe.Add(msg, it.from-start), unsafe.Add(base, off+it.disp), it.size
		if w == scatter {
			to, from = from, to
		}
		switch {
		case n > 32:
			copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
		case n > 16:
			first, last := *(*[2]uint64)(from), *(*[2]uint64)(unsafe.Add(from, n-16))
			*(*[2]uint64)(to), *(*[2]uint64)(unsafe.Add(to, n-16)) = first, last
		case n >= 8:
			first, last := *(*uint64)(from), *(*uint64)(unsafe.Add(from, n-8))
			*(*uint64)(to), *(*uint64)(unsafe.Add(to, n-8)) = first, last
		case n >= 4:
			first, last := *(*uint32)(from), *(*uint32)(unsafe.Add(from, n-4))
			*(*uint32)(to), *(*uint32)(unsafe.Add(to, n-4)) = first, last
		default:
			for b := range n {
				*(*byte)(unsafe.Add(to, b)) = *(*byte)(unsafe.Add(from, b))
			}
		}
	}
}

// columnBytes is how much memory the instances have that columns copies at a time: they stay in a
// cache from one item to the next.
const columnBytes = 8 << 10

// columns copies count instances of a flat list, each stride after the one before: an array of
// structs. It copies the first item of some instances, then the second of the same, and so on, so
// that each loop has one size.
func columns(n *node, base unsafe.Pointer, off, stride, count int64, msg unsafe.Pointer, w way) {
	batch := max(1, columnBytes/max(stride, -stride, n.size))
	for {
		some := min(batch, count)
		for i := range n.items {
			it := &n.items[i]
			column(unsafe.Add(base, off+it.disp), stride, unsafe.Add(msg, it.from), n.size, some, it.size, w)
		}
		if count -= some; count == 0 {
			return
		}
		off += some * stride
		msg = unsafe.Add(msg, some*n.size)
	}
}

// column copies count runs of size bytes between mem, where they lie stride apart, and a message,
// where they lie step apart.
func column(mem unsafe.Pointer, stride int64, msg unsafe.Pointer, step, count, size int64, w way) {
	to, toStep, from, fromStep := msg, step, mem, stride
	if w == scatter {
		to, toStep, from, fromStep = mem, stride, msg, step
	}
	switch size {
	case 1:
		steps[uint8](to, toStep, from, fromStep, count)
	case 2:
		steps[uint16](to, toStep, from, fromStep, count)
	case 4:
		steps[uint32](to, toStep, from, fromStep, count)
	case 8:
		steps[uint64](to, toStep, from, fromStep, count)
	case 12:
		steps[[3]uint32](to, toStep, from, fromStep, count)
	case 16:
		steps[[2]uint64](to, toStep, from, fromStep, count)
	case 24:
		steps[[3]uint64](to, toStep, from, fromStep, count)
	case 32:
		steps[[4]uint64](to, toStep, from, fromStep, count)
	default:
		for i := range count {
			copyRun(unsafe.Add(mem, i*stride), unsafe.Add(msg, i*step), size, w)
		}
	}
}

// steps copies count values that lie so far apart.
func steps[T any](to unsafe.Pointer, toStep int64, from unsafe.Pointer, fromStep, count int64) {
	var t, f int64
	for ; count >= 4; count -= 4 {
		a, b := unsafe.Add(to, t), unsafe.Add(from, f)
		*(*T)(a) = *(*T)(b)
		*(*T)(unsafe.Add(a, toStep)) = *(*T)(unsafe.Add(b, fromStep))
		*(*T)(unsafe.Add(a, 2*toStep)) = *(*T)(unsafe.Add(b, 2*fromStep))
		*(*T)(unsafe.Add(a, 3*toStep)) = *(*T)(unsafe.Add(b, 3*fromStep))
		t += 4 * toStep
		f += 4 * fromStep
	}
	for range count {
		*(*T)(unsafe.Add(to, t)) = *(*T)(unsafe.Add(from, f))
		t += toStep
		f += fromStep
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
