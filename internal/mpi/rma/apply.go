package rma

import (
	"unsafe"

	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
)

// apply carries out what a message asks of memory that begins at base: packed bytes from up to
// upto, which lie between elements. old gets what a fetching message fetches; it is as long as the
// data of the whole place. how says how elements are accumulated.
func (m *message) apply(base unsafe.Pointer, from, upto int64, old []byte, how manner) {
	switch m.verb {
	case put:
		m.place.scatter(base, m.data[from:upto], from)
	case get:
		m.place.gather(base, old[from:upto], from)
	case accumulate, fetch:
		m.accumulate(base, from, upto, old, how)
	case swap:
		n := len(m.data) / 2
		if how == byInstructions {
			m.eachRun(from, upto, func(disp, _, _ int64) {
				m.words.swap(unsafe.Add(base, disp), m.data[:n], m.data[n:], old)
			})
			return
		}
		m.place.gather(base, old, 0)
		if string(old) == string(m.data[n:]) {
			m.place.scatter(base, m.data[:n], 0)
		}
	}
}

// gather packs bytes from a packed offset on.
func (p *place) gather(base unsafe.Pointer, to []byte, from int64) {
	if len(to) == 0 {
		return
	}
	if p.typ == nil {
		copy(to, unsafe.Slice((*byte)(unsafe.Add(base, p.disp+from)), len(to)))
		return
	}
	p.typ.Pack(to, unsafe.Add(base, p.disp), p.count, from)
}

// scatter is the converse of gather.
func (p *place) scatter(base unsafe.Pointer, data []byte, from int64) {
	if len(data) == 0 {
		return
	}
	if p.typ == nil {
		copy(unsafe.Slice((*byte)(unsafe.Add(base, p.disp+from)), len(data)), data)
		return
	}
	p.typ.Unpack(data, unsafe.Add(base, p.disp), p.count, from)
}

// accumulate combines elements with the data.
func (m *message) accumulate(base unsafe.Pointer, from, upto int64, old []byte, how manner) {
	f := reduce.For(m.op, m.kind)
	switch how {
	case inPlace:
		m.eachRun(from, upto, func(disp, at, n int64) {
			elements := unsafe.Slice((*byte)(unsafe.Add(base, disp)), n)
			if m.verb == fetch {
				copy(old[at:at+n], elements)
			}
			if m.op != reduce.NoOp {
				f(elements, m.data[at:at+n])
			}
		})
		return
	case byCopies:
		piece := old[min(from, int64(len(old))):min(upto, int64(len(old)))]
		if m.verb == accumulate {
			piece = make([]byte, upto-from)
		}
		m.place.gather(base, piece, from)
		if m.op == reduce.NoOp {
			return
		}
		is := append([]byte(nil), piece...)
		f(is, m.data[from:upto])
		m.place.scatter(base, is, from)
		return
	}
	w := &m.words
	m.eachRun(from, upto, func(disp, at, n int64) {
		var was []byte
		if m.verb == fetch {
			was = old[at : at+n]
		}
		switch {
		case m.op != reduce.NoOp:
			w.accumulate(unsafe.Add(base, disp), m.data[at:at+n], was, f)
		case m.verb == fetch:
			w.load(unsafe.Add(base, disp), was)
		}
	})
}

// eachRun shows the runs of packed bytes from up to upto: where they are, relative to the base,
// and which packed bytes they hold.
func (p *place) eachRun(from, upto int64, visit func(disp, at, n int64)) {
	if from >= upto {
		return
	}
	if p.typ == nil {
		visit(p.disp+from, from, upto-from)
		return
	}
	size := p.typ.Size()
	_, extent := p.typ.Extent()
	for i := from / size; from < upto; i++ {
		p.typ.RunsFrom(from%size, func(disp, n int64) bool {
			n = min(n, upto-from)
			visit(p.disp+i*extent+disp, from, n)
			from += n
			return from < upto
		})
	}
}

// placeOf is count instances of a type at a displacement.
func placeOf(typ *datatype.Type, count, disp int64) place {
	if first, ok := typ.Contiguous(count); ok {
		n, _ := typ.Bytes(count)
		return place{disp: disp + first, size: n}
	}
	return place{disp: disp, count: count, typ: typ}
}
