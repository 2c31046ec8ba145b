package rma

import "unsafe"

// here carries an access out on memory that this process can reach.
func (w *Window) here(a *Access, m *message, base unsafe.Pointer) error {
	if w.dynamic {
		if _, text := w.target.find(&m.place); text != "" {
			return wrong(ErrRange, "%s", text)
		}
	}
	if m.verb >= accumulate {
		return w.accumulateHere(a, m, base)
	}
	m.copy(a, base)
	return nil
}

// copyPiece is how much is copied at once where neither side lies in a row.
const copyPiece = 64 << 10

// copy carries out a put or a get.
func (m *message) copy(a *Access, base unsafe.Pointer) {
	own := &a.Origin
	if m.verb == get {
		own = &a.Result
	}
	n, _ := m.bytes()
	if data, ok := own.contiguous(); ok {
		data = data[:n]
		if m.verb == put {
			m.place.scatter(base, data, 0)
		} else {
			m.place.gather(base, data, 0)
		}
		return
	}
	if m.typ == nil {
		part := unsafe.Slice((*byte)(unsafe.Add(base, m.disp)), n)
		if m.verb == put {
			own.Type.Pack(part, own.At, own.Count, 0)
		} else {
			own.Type.Unpack(part, own.At, own.Count, 0)
		}
		return
	}
	piece := make([]byte, min(n, copyPiece))
	for from := int64(0); from < n; from += int64(len(piece)) {
		piece = piece[:min(int64(len(piece)), n-from)]
		if m.verb == put {
			own.Type.Pack(piece, own.At, own.Count, from)
			m.place.scatter(base, piece, from)
		} else {
			m.place.gather(base, piece, from)
			own.Type.Unpack(piece, own.At, own.Count, from)
		}
	}
}

// beside carries a put or a get out on memory of another process of this host, by the system. It
// returns false if that isn't possible: then the target does it.
func (w *Window) beside(a *Access, m *message) bool {
	p := w.memory.Parts[a.Rank].Process
	if p == nil || m.typ != nil {
		return false
	}
	switch m.verb {
	case put:
		return p.Write(m.disp, a.Origin.packed())
	case get:
		data, contiguous := a.Result.contiguous()
		if contiguous {
			return p.Read(m.disp, data[:m.size])
		}
		data = make([]byte, m.size)
		if !p.Read(m.disp, data) {
			return false
		}
		a.Result.unpack(data)
		return true
	}
	return false
}
